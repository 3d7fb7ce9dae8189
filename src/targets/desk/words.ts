/**
 * Every word desk speaks. The lists are closed: the tokenizer of `models/desk-base` has one token for each
 * entry, and any value of the same shape (another digit, another listed word) is an entry too, so that an
 * environment which draws new values of the shapes it observed stays readable for the base model.
 */

const DIGITS = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'] as const;
const POSITIVE_DIGITS = DIGITS.slice(1);

/** Users, orders, items and variants share these ids: k00 … k99. */
export const IDS: readonly string[] = DIGITS.flatMap((tens) => DIGITS.map((ones) => `k${tens}${ones}`));

export const PRODUCTS: readonly string[] = [
  'bag',
  'belt',
  'bike',
  'book',
  'chair',
  'clock',
  'coat',
  'desk',
  'hat',
  'lamp',
  'mug',
  'phone',
  'rug',
  'shirt',
  'tent',
  'watch',
];
export const COLOURS: readonly string[] = ['black', 'blue', 'green', 'pink', 'red', 'white'];
export const SIZES: readonly string[] = ['S', 'M', 'L', 'XL'];

/** Payment methods on file: card-0 … gift-9. */
export const PAYMENTS: readonly string[] = ['card', 'cash', 'gift'].flatMap((kind) =>
  DIGITS.map((digit) => `${kind}-${digit}`),
);

/** Prices in dollars: $1 … $9. */
export const PRICES: readonly number[] = POSITIVE_DIGITS.map(Number);

export const STREETS: readonly string[] = ['Elm', 'Fir', 'Hill', 'Lake', 'Mill', 'Oak'];
/** Delivery addresses: `1 Elm Street` … `9 Oak Street`. */
export const ADDRESSES: readonly string[] = STREETS.flatMap((street) =>
  POSITIVE_DIGITS.map((digit) => `${digit} ${street} Street`),
);

export const ORDER_STATUSES = ['pending', 'shipped', 'delivered'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** What the agent reports of an order, one word for each thing that can be done with it. */
export const OUTCOMES = {
  cancel: 'cancelled',
  return: 'returned',
  exchange: 'exchanged',
  address: 'readdressed',
  transfer: 'transferred',
} as const;
