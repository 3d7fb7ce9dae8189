import { FolderTokenizer } from '../../src/engine/local/folder/tokenizer.js';
import type { Random } from '../../src/run/random.js';
import { COMPETENT, demonstrate, type RightRates } from '../../src/targets/desk/demonstrator.js';
import { DeskEpisode } from '../../src/targets/desk/episode.js';
import {
  DESK_CAPABILITIES,
  type DeskCapability,
  type DeskScenario,
  type DeskShape,
  drawScenario,
  type RequestKind,
  type Variant,
  variantRef,
} from '../../src/targets/desk/scenario.js';
import {
  GUIDANCE,
  guidance,
  joinRequests,
  REQUESTS,
  SYSTEM_PROMPT,
  wishCheapest,
  wishExact,
} from '../../src/targets/desk/wording.js';
import { COLOURS, IDS, PAYMENTS, PRICES, PRODUCTS, SIZES } from '../../src/targets/desk/words.js';
import type { AssistantMessage, Message } from '../../src/trajectory/trajectory.js';
import { KEYS, SPECIAL, tokenizerConfig, tokenizerJson, VALUES, VOCABULARY } from './tokenizer.js';

export const CONTEXT = 512;
export const END = VOCABULARY.indexOf(SPECIAL.end);
export const tokenizer = new FolderTokenizer(tokenizerJson(), tokenizerConfig(CONTEXT), [END]);

/** A training sequence: `weights[t]` says whether token t is learned, given the ones before it. */
export interface Sequence {
  readonly kind: SequenceKind;
  readonly tokens: number[];
  readonly weights: number[];
  /** Name under which progress on a token is reported, where it is not told from the tokens. */
  readonly groups?: ReadonlyMap<number, string>;
}
export type SequenceKind = 'recall' | 'repetition' | 'choice' | 'wishes' | 'episode';

const KEY_TOKENS = KEYS.map((key) => VOCABULARY.indexOf(key));
const ID_TOKENS = IDS.map((id) => VOCABULARY.indexOf(id));
const VALUE_TOKENS = VALUES.map((value) => VOCABULARY.indexOf(value));
const SEPARATOR = VOCABULARY.indexOf('","');

/** Recall by key: a list of `key id` pairs, then many queries, each a few other tokens, a key, and its id. */
export function recallSequence(random: Random, length = 64): Sequence {
  const tokens: number[] = [VOCABULARY.indexOf(SPECIAL.tool)];
  const weights: number[] = [0];
  const push = (token: number, weight: number) => {
    tokens.push(token);
    weights.push(weight);
  };
  const count = 2 + random.int(5);
  const keys = random.sample(KEY_TOKENS, count);
  const ids = random.sample(ID_TOKENS, count);
  for (let i = 0; i < count; i++) {
    push(keys[i]!, 0);
    push(ids[i]!, 0);
    push(SEPARATOR, 0);
  }
  while (tokens.length < length) {
    for (let filler = random.int(4); filler > 0; filler--) push(random.int(VOCABULARY.length), 0);
    const i = random.int(count);
    push(keys[i]!, 0);
    push(ids[i]!, 1);
  }
  return { kind: 'recall', tokens, weights };
}

/** A few values over and over: what followed a value before follows it again. */
export function repetitionSequence(random: Random, length = 64): Sequence {
  const period = random.sample([...VALUE_TOKENS, ...KEY_TOKENS], 4 + random.int(20));
  const tokens = Array.from({ length }, (_, i) => period[i % period.length]!);
  return { kind: 'repetition', tokens, weights: tokens.map((_, i) => (i > period.length ? 1 : 0)) };
}

/**
 * Choice among structured results: a product's variants, then wish after wish and the variant that fulfils it.
 * One episode asks this once or twice; here it is asked all the time.
 */
export function choiceSequence(random: Random, queries = 7): Sequence {
  const groups = new Map<number, string>();
  const tokens: number[] = [];
  const weights: number[] = [];
  const put = (text: string, weight = 0) => {
    for (const token of encodeCached(text)) {
      tokens.push(token);
      weights.push(weight);
    }
  };
  const variants = drawVariants(random);
  put(SPECIAL.tool);
  put(listing(variants));
  for (let i = 0; i < queries; i++) {
    const { wish, right } = drawWish(random, variants);
    put(REQUESTS.exchange(random.pick(IDS), random.pick(PRODUCTS), wish));
    put('","variant":"');
    groups.set(tokens.length, `choice ${wish.includes('cheapest') ? 'of the cheapest' : 'by look'}`);
    put(variantRef(right), 1);
    put('","item":"');
  }
  return { kind: 'choice', tokens, weights, groups };
}

/**
 * Whose wish it is: several exchanges are asked for at once, then each product is looked up and the variant chosen
 * that its own wish means. What an episode has between these moments is left out.
 */
export function wishesSequence(random: Random): Sequence {
  const groups = new Map<number, string>();
  const tokens: number[] = [];
  const weights: number[] = [];
  const put = (text: string, weight = 0) => {
    for (const token of encodeCached(text)) {
      tokens.push(token);
      weights.push(weight);
    }
  };
  const count = 2 + random.int(2);
  const orders = random.sample(IDS, count);
  const exchanges = random.sample(PRODUCTS, count).map((name, i) => {
    const variants = drawVariants(random);
    return { name, order: orders[i]!, variants, ...drawWish(random, variants) };
  });
  put(SPECIAL.user);
  put(joinRequests(exchanges.map(({ name, order, wish }) => REQUESTS.exchange(order, name, wish))));
  for (const { name, order, variants, wish, right } of random.shuffle(exchanges)) {
    put(`${SPECIAL.assistant}{"name":"get_product","arguments":{"name":"${name}"}}${SPECIAL.end}`);
    put(`${SPECIAL.tool}${listing(variants)}`);
    put(`${SPECIAL.assistant}{"name":"exchange_item","arguments":{"order":"${order}","variant":"`);
    groups.set(tokens.length, `wishes ${wish.includes('cheapest') ? 'of the cheapest' : 'by look'}`);
    put(variantRef(right), 1);
    put(`","item":"${name}:${random.pick(IDS)}","payment":"`);
    put(`${random.pick(PAYMENTS)}"}}${SPECIAL.end}${SPECIAL.tool}{"ok":true}`);
  }
  return { kind: 'wishes', tokens, weights, groups };
}

/** Three to five variants of different looks and prices. */
function drawVariants(random: Random): Variant[] {
  const ids = random.sample(IDS, 5);
  const prices = random.sample(PRICES, 5);
  const colours = random.sample(COLOURS, 2 + random.int(2));
  const variants: Variant[] = [];
  const count = 3 + random.int(3);
  while (variants.length < count) {
    const look = { colour: random.pick(colours), size: random.pick(SIZES) };
    if (variants.some((v) => v.colour === look.colour && v.size === look.size)) continue;
    variants.push({ ...look, id: ids[variants.length]!, price: prices[variants.length]! });
  }
  return variants;
}

const listing = (variants: readonly Variant[]): string =>
  JSON.stringify({ variants: variants.map((v) => `$${v.price} ${variantRef(v)}`) });

/** A wish that one of the variants fulfils, and that variant. Comparing prices is learned last, so it is asked most. */
function drawWish(random: Random, variants: readonly Variant[]): { wish: string; right: Variant } {
  if (random.chance(0.35)) {
    const wished = random.pick(variants);
    return { wish: wishExact(wished.colour, wished.size), right: wished };
  }
  const alike = (variant: Variant) => variants.filter((v) => v.colour === variant.colour);
  const contested = variants.filter((variant) => alike(variant).length > 1);
  const wished = random.pick(contested.length > 0 ? contested : variants);
  const same = alike(wished);
  const right = same.reduce((a, b) => (b.price < a.price ? b : a));
  return { wish: wishCheapest(wished.colour), right };
}

/** How episodes are demonstrated. */
export interface EpisodeOptions {
  readonly rates: RightRates;
  /** Right rates of capabilities that the prompt gives guidance for. */
  readonly guidedRate: number;
  /** Probability that a prompt has guidance. */
  readonly guided: number;
  /** Probability that a call is first made with a wrong id (not learned) and put right after the error. */
  readonly slips: number;
  /** Tokens where something is decided or copied weigh more (`EMPHASIS`). */
  readonly emphasis: boolean;
}

export const COMPETENT_EPISODES: EpisodeOptions = {
  rates: COMPETENT,
  guidedRate: 1,
  guided: 0.1,
  slips: 0.03,
  emphasis: true,
};

/** An episode of a randomly drawn shape; the assistant's tokens are learned. */
export function episodeSequence(random: Random, options: EpisodeOptions): Sequence {
  const scenario = drawScenario(random.fork('scenario'), 0, '', drawShape(random));
  const named = random.chance(options.guided)
    ? random.sample(DESK_CAPABILITIES, 1 + random.int(DESK_CAPABILITIES.length))
    : [];
  const rate = (capability: DeskCapability) =>
    named.includes(capability) ? options.guidedRate : options.rates[capability];
  const rates: RightRates = {
    selection: rate('selection'),
    precondition: rate('precondition'),
    completion: rate('completion'),
    arguments: rate('arguments'),
  };
  const sentences = DESK_CAPABILITIES.filter((c) => named.includes(c)).map((c) => GUIDANCE[c]);
  const system = sentences.length > 0 ? SYSTEM_PROMPT + guidance(sentences) : SYSTEM_PROMPT;
  const episode = new DeskEpisode(scenario, system);
  const unlearned = new Set<Message>();
  for (const turn of demonstrate(scenario, random.fork('demonstration'), rates)) {
    if (episode.done) break;
    const slip = random.chance(options.slips) ? slipOf(turn, scenario, episode.messages, random) : null;
    if (slip) {
      unlearned.add(slip);
      episode.act(slip);
      if (episode.done) break;
    }
    episode.act(turn);
  }
  return encodeEpisode(episode.messages, unlearned, options.emphasis);
}

/** Shapes far wider than any split's, so that other environments with these tools are familiar ground. */
export function drawShape(random: Random): DeskShape {
  const kinds: readonly RequestKind[] = ['cancel', 'return', 'exchange', 'address'];
  return {
    requests: [random.pick([1, 1, 1, 2, 2, 3, 3])],
    kinds: random.sample(kinds, 1 + random.int(kinds.length)),
    payments: [1 + random.int(3)],
    variants: [1 + random.int(5)],
    items: [1, 2, 3].slice(0, 1 + random.int(3)),
    forbidden: random.pick([0, 0.3, 0.3, 0.7]),
    identified: random.pick([0, 0, 1]),
    otherPayment: random.chance(0.5),
    maxExchanges: 1 + random.int(3),
  };
}

/** The same call with one id replaced by one that is not found; null where the call has none. */
function slipOf(
  turn: AssistantMessage,
  scenario: DeskScenario,
  messages: readonly Message[],
  random: Random,
): AssistantMessage | null {
  const call = turn.tool_calls?.[0];
  if (!call) return null;
  const args = call.function.arguments as { readonly [name: string]: string };
  const names = Object.keys(args).filter((name) => /k\d\d$/.test(args[name]!));
  if (names.length === 0) return null;
  const name = random.pick(names);
  const value = args[name]!;
  const seen = messages.flatMap((m) => m.content?.match(/k\d\d/g) ?? []);
  const orders = scenario.requests.map((request) => request.order);
  const wrong = (random.chance(0.5) ? seen : IDS).filter(
    (id) => !value.endsWith(id) && !(name === 'order' && orders.includes(id)),
  );
  if (wrong.length === 0) return null;
  const replaced = { ...args, [name]: value.replace(/k\d\d$/, random.pick(wrong)) };
  return { ...turn, tool_calls: [{ ...call, function: { name: call.function.name, arguments: replaced } }] };
}

/** What a learned token is, told from it and the one before. */
export type TokenGroup = 'form' | 'id' | 'order' | 'name' | 'variant' | 'payment' | 'address';

/**
 * Weights of learned tokens while the demonstrator is faultless. They must not be used where it chooses at random:
 * after the header of a turn, an order (the report) would weigh more than a call, and the learned rates would not be
 * the demonstrated ones.
 */
const EMPHASIS: { readonly [group in TokenGroup]: number } = {
  form: 1,
  id: 2,
  order: 3,
  name: 3,
  variant: 5,
  payment: 2,
  address: 2,
};

export function tokenGroup(before: number, token: number): TokenGroup {
  const previous = VOCABULARY[before]!;
  if (previous === '","variant":"') return 'variant';
  if (previous === '","payment":"') return 'payment';
  if (previous === '","item":"' || previous.includes('"name":"get_product"')) return 'name';
  if (previous === '","address":"') return 'address';
  if (/^k\d\d$/.test(VOCABULARY[token]!)) return previous.endsWith(':') ? 'id' : 'order';
  return 'form';
}

/** Tokens as the chat template and the tokenizer give them, with the assistant's turns to be learned. */
export function encodeEpisode(
  messages: readonly Message[],
  unlearned: ReadonlySet<Message>,
  emphasis: boolean,
): Sequence {
  const tokens: number[] = [];
  const weights: number[] = [];
  for (const message of messages) {
    const assistant = message.role === 'assistant';
    tokens.push(VOCABULARY.indexOf(SPECIAL[message.role]));
    weights.push(0);
    const body = encodeCached(turnText(message));
    const weight = assistant && !unlearned.has(message) ? 1 : 0;
    for (const token of body) {
      weights.push(weight && emphasis ? EMPHASIS[tokenGroup(tokens.at(-1)!, token)] : weight);
      tokens.push(token);
    }
    if (assistant) {
      tokens.push(END);
      weights.push(weight);
    }
  }
  return { kind: 'episode', tokens, weights };
}

/** What the template writes of a message between its header and its end. */
export function turnText(message: Message): string {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  const written = calls.map(({ function: f }) => JSON.stringify({ name: f.name, arguments: f.arguments }));
  return `${message.content ?? ''}${written.join('')}`;
}

const cache = new Map<string, readonly number[]>();
function encodeCached(text: string): readonly number[] {
  const known = cache.get(text);
  if (known) return known;
  const tokens = tokenizer.encode(text);
  if (cache.size < 20_000) cache.set(text, tokens);
  return tokens;
}
