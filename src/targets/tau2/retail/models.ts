import { type Database, database } from '../database.js';
import {
  bool,
  dict,
  float,
  type Infer,
  list,
  literal,
  type Model,
  model,
  optional,
  string,
  tagged,
  validate,
} from '../python/schema.js';
import type { Dict } from '../python/value.js';
import { BaseTable, Table } from '../table.js';

/** The retail domain's models; field order is the order in which outputs print. */

const variant = model('Variant', { item_id: string, options: dict(string), available: bool, price: float });
export type Variant = Infer<typeof variant>;

const product = model('Product', { name: string, product_id: string, variants: dict(variant) });
export type Product = Infer<typeof product>;

export const address = model('UserAddress', {
  address1: string,
  address2: string,
  city: string,
  country: string,
  state: string,
  zip: string,
});

const creditCard = model('CreditCard', {
  source: literal('credit_card'),
  id: string,
  brand: string,
  last_four: string,
});
const giftCard = model('GiftCard', { source: literal('gift_card'), id: string, balance: float });
const paypal = model('Paypal', { source: literal('paypal'), id: string });
export type GiftCard = Infer<typeof giftCard>;
export type PaymentMethod = Infer<typeof creditCard> | GiftCard | Infer<typeof paypal>;
export const isGiftCard = (method: PaymentMethod): method is GiftCard => method.source === 'gift_card';
const paymentMethod = tagged<PaymentMethod>('source', {
  credit_card: creditCard,
  gift_card: giftCard,
  paypal,
} as {
  [source: string]: Model<PaymentMethod>;
});

const user = model('User', {
  user_id: string,
  name: model('UserName', { first_name: string, last_name: string }),
  address,
  email: string,
  payment_methods: dict(paymentMethod),
  orders: list(string),
});
export type User = Infer<typeof user>;

const orderItem = model('OrderItem', {
  name: string,
  product_id: string,
  item_id: string,
  price: float,
  options: dict(string),
});

export const orderPayment = model('OrderPayment', {
  transaction_type: literal('payment', 'refund'),
  amount: float,
  payment_method_id: string,
});
export type OrderPayment = Infer<typeof orderPayment>;

const order = model('Order', {
  order_id: string,
  user_id: string,
  address,
  items: list(orderItem),
  status: literal(
    'processed',
    'pending',
    'pending (item modified)',
    'delivered',
    'cancelled',
    'exchange requested',
    'return requested',
  ),
  fulfillments: list(model('OrderFullfilment', { tracking_id: list(string), item_ids: list(string) })),
  payment_history: list(orderPayment),
  cancel_reason: optional(literal('no longer needed', 'ordered by mistake')),
  exchange_items: optional(list(string)),
  exchange_new_items: optional(list(string)),
  exchange_payment_method_id: optional(string),
  exchange_price_difference: optional(float),
  return_items: optional(list(string)),
  return_payment_method_id: optional(string),
});
export type Order = Infer<typeof order>;

const retailDb = model(
  'RetailDB',
  { products: dict(product), users: dict(user), orders: dict(order) },
  'forbid',
);

export interface RetailData {
  readonly products: Table<Product>;
  readonly users: Table<User>;
  readonly orders: Table<Order>;
}

/** Reads the database file once; every call of the result opens a fresh database over the same rows. */
export function retailDatabase(file: Dict): () => Database<RetailData> {
  const read = (dicts: Dict) => {
    const db = validate(retailDb, dicts);
    return {
      products: new BaseTable(db.products),
      users: new BaseTable(db.users),
      orders: new BaseTable(db.orders),
    };
  };
  const open = (base: ReturnType<typeof read>): RetailData => ({
    products: new Table(base.products),
    users: new Table(base.users),
    orders: new Table(base.orders),
  });
  const base = read(file);
  return () => database('RetailDB', open(base), (dicts) => open(read(dicts)));
}
