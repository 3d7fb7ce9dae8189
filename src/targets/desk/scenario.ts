import type { Scenario } from '../../environment/contract.js';
import type { Random } from '../../run/random.js';
import { ADDRESSES, COLOURS, IDS, type OrderStatus, PAYMENTS, PRICES, PRODUCTS, SIZES } from './words.js';

export type RequestKind = 'cancel' | 'return' | 'exchange' | 'address';

export interface OrderItem {
  readonly name: string;
  readonly id: string;
}

export interface Variant {
  readonly id: string;
  readonly colour: string;
  readonly size: string;
  readonly price: number;
}

/** One thing the user wants, with the order it is about. */
export interface DeskRequest {
  readonly kind: RequestKind;
  readonly order: string;
  readonly status: OrderStatus;
  /** The policy allows it in this status. */
  readonly allowed: boolean;
  /** What the order was paid with. */
  readonly payment: string;
  readonly items: readonly OrderItem[];
  /** The item that a return or an exchange is about. */
  readonly item: OrderItem;
  /** Exchange only: what is on offer, and what the user wants of it (`size` null: the cheapest of the colour). */
  readonly variants: readonly Variant[];
  readonly wish: { readonly colour: string; readonly size: string | null } | null;
  /** Exchange only: the variant that fulfils the wish. */
  readonly variant: Variant | null;
  /** Address change only: revealed when asked. */
  readonly address: string | null;
}

export interface DeskScenario extends Scenario {
  readonly user: string;
  /** Payment methods on file; an order was paid with any of them. */
  readonly payments: readonly string[];
  readonly requests: readonly DeskRequest[];
  /** The user gives the user id in the first message, unasked. */
  readonly identified: boolean;
}

/** The capabilities that desk is about; synthetic names of its four decisions, for tests and benchmarks. */
export type DeskCapability = 'selection' | 'precondition' | 'completion' | 'arguments';
export const DESK_CAPABILITIES: readonly DeskCapability[] = [
  'selection',
  'precondition',
  'completion',
  'arguments',
];

/** What a distribution of scenarios draws from. */
export interface DeskShape {
  /** Number of requests, drawn uniformly. */
  readonly requests: readonly number[];
  /** Kinds of requests, drawn uniformly (repeat one to weigh it). At most one address change a scenario. */
  readonly kinds: readonly RequestKind[];
  /** Number of payment methods on file, drawn uniformly. */
  readonly payments: readonly number[];
  /** Number of variants on offer, drawn uniformly. */
  readonly variants: readonly number[];
  /** Number of items in an order, drawn uniformly. */
  readonly items: readonly number[];
  /** Probability that the order's status forbids what is asked. */
  readonly forbidden: number;
  /** Probability that the user gives the user id unasked. */
  readonly identified: number;
  /** The order's payment is never the first on file (where there are several). */
  readonly otherPayment?: boolean;
  /** Most exchanges in a scenario; further ones become returns. */
  readonly maxExchanges?: number;
}

const ALLOWED_STATUS: { readonly [kind in RequestKind]: OrderStatus } = {
  cancel: 'pending',
  address: 'pending',
  return: 'delivered',
  exchange: 'delivered',
};
const FORBIDDEN_STATUSES: { readonly [kind in RequestKind]: readonly OrderStatus[] } = {
  cancel: ['delivered', 'shipped'],
  address: ['delivered', 'shipped'],
  return: ['pending', 'shipped'],
  exchange: ['pending', 'shipped'],
};

/** Draws a scenario; the same generator state gives the same scenario. */
export function drawScenario(random: Random, seed: number, id: string, shape: DeskShape): DeskScenario {
  const ids = random.shuffle(IDS);
  const names = random.shuffle(PRODUCTS);
  const next = (list: string[]): string => list.pop() as string;
  const payments = random.sample(PAYMENTS, random.pick(shape.payments));
  const user = next(ids);
  const requests = drawKinds(random, shape).map((kind): DeskRequest => {
    const allowed = !random.chance(shape.forbidden);
    const items = Array.from({ length: random.pick(shape.items) }, () => ({
      name: next(names),
      id: next(ids),
    }));
    const item = random.pick(items);
    const exchange = kind === 'exchange' ? drawExchange(random, random.pick(shape.variants), ids) : null;
    return {
      kind,
      order: next(ids),
      status: allowed ? ALLOWED_STATUS[kind] : random.pick(FORBIDDEN_STATUSES[kind]),
      allowed,
      payment: random.pick(shape.otherPayment && payments.length > 1 ? payments.slice(1) : payments),
      items,
      item,
      variants: exchange?.variants ?? [],
      wish: exchange?.wish ?? null,
      variant: exchange?.variant ?? null,
      address: kind === 'address' ? random.pick(ADDRESSES) : null,
    };
  });
  return { seed, id, user, payments, requests, identified: random.chance(shape.identified) };
}

function drawKinds(random: Random, shape: DeskShape): RequestKind[] {
  const kinds: RequestKind[] = [];
  const count = random.pick(shape.requests);
  const room: { readonly [kind in RequestKind]: number } = {
    cancel: count,
    return: count,
    exchange: shape.maxExchanges ?? 2,
    address: 1,
  };
  while (kinds.length < count) {
    const kind = random.pick(shape.kinds);
    const full = kinds.filter((k) => k === kind).length >= room[kind];
    kinds.push(full ? (kind === 'address' ? 'cancel' : 'return') : kind);
  }
  return kinds;
}

/** Variants among which exactly one fulfils the wish. Colours and sizes never repeat as a pair. */
function drawExchange(
  random: Random,
  count: number,
  ids: string[],
): Pick<DeskRequest, 'wish' | 'variant'> & { variants: Variant[] } {
  const cheapest = count > 1 && random.chance(0.5);
  const colours = random.sample(COLOURS, 3);
  const colour = colours[0] as string;
  const sizes = random.shuffle(SIZES);
  const prices = random.sample(PRICES, count);
  const looks: { colour: string; size: string }[] = [{ colour, size: sizes[0] as string }];
  // Near misses first: the same colour in another size, then anything else.
  if (count > 1) looks.push({ colour, size: sizes[1] as string });
  while (looks.length < count) {
    const look = { colour: random.pick(colours.slice(1)), size: random.pick(SIZES) };
    if (!looks.some((l) => l.colour === look.colour && l.size === look.size)) looks.push(look);
  }
  const variants = looks.map((look, i) => ({ ...look, id: ids.pop() as string, price: prices[i] as number }));
  const [first, second] = variants as [Variant, Variant | undefined];
  const variant = cheapest && second && second.price < first.price ? second : first;
  const wish = { colour, size: cheapest ? null : first.size };
  return { variants: random.shuffle(variants), wish, variant };
}

/** Which capabilities a scenario needs: a policy without one of them cannot pass. */
export function capabilitiesOf(scenario: DeskScenario): readonly DeskCapability[] {
  const { requests, payments } = scenario;
  const needed = new Set<DeskCapability>();
  if (requests.length > 1) needed.add('completion');
  for (const request of requests) {
    if (!request.allowed) needed.add('precondition');
    else {
      if (request.variant && request.variant !== request.variants[0]) needed.add('selection');
      if (usesPayment(request) && request.payment !== payments[0]) needed.add('arguments');
    }
  }
  return DESK_CAPABILITIES.filter((capability) => needed.has(capability));
}

export const usesPayment = (request: DeskRequest): boolean =>
  request.kind === 'return' || request.kind === 'exchange';

/** The forms in which ids appear in results and calls. */
export const itemRef = (item: OrderItem): string => `${item.name}:${item.id}`;
export const variantRef = (variant: Variant): string => `${variant.colour}-${variant.size}:${variant.id}`;
