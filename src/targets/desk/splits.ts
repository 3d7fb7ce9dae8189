import type { SplitName } from '../../environment/contract.js';
import { Random } from '../../run/random.js';
import {
  capabilitiesOf,
  type DeskCapability,
  type DeskScenario,
  type DeskShape,
  drawScenario,
} from './scenario.js';

/** Two or three requests and two to four capabilities in every task. */
export const COMPOUND: DeskShape = {
  requests: [2, 3],
  kinds: ['cancel', 'return', 'exchange', 'cancel', 'return', 'exchange', 'address'],
  payments: [2, 3],
  variants: [4],
  items: [1, 2],
  forbidden: 0.3,
  identified: 0,
};

/** Harder: always three requests and three payments, more refusals, at least three capabilities. */
export const SHIFT: DeskShape = { ...COMPOUND, requests: [3], payments: [3], forbidden: 0.4 };

/** Easier: tasks that need exactly one capability, so that a weak model passes some of them. */
const SINGLE: { readonly [capability in DeskCapability]: DeskShape } = {
  selection: { ...COMPOUND, requests: [1], kinds: ['exchange'], payments: [1], forbidden: 0 },
  precondition: {
    ...COMPOUND,
    requests: [1],
    kinds: ['cancel', 'return', 'exchange'],
    payments: [1],
    forbidden: 1,
  },
  completion: { ...COMPOUND, requests: [2], kinds: ['cancel', 'return'], payments: [1], forbidden: 0 },
  arguments: { ...COMPOUND, requests: [1], kinds: ['return'], otherPayment: true, forbidden: 0 },
};

/** Splits are disjoint: each owns a million seeds, and a seed decides the distribution it is drawn from. */
const SPLIT_SEEDS = 1_000_000;
const FIRST_SEED = { open: 0, compound: 1, single: 2, validation: 3, test: 4, shift: 5 } as const;
type Region = keyof typeof FIRST_SEED;

const DEFAULT_SIZE: { readonly [split in SplitName]: number } = {
  train: 48,
  'train-compound': 24,
  validation: 128,
  test: 512,
  shift: 512,
};

/**
 * Seeds of a split in a fixed order. `train` alternates compound tasks and tasks that need one capability, so
 * that any beginning of it has both; its compound tasks are those of `train-compound`.
 */
export function splitSeeds(name: SplitName, size: number = DEFAULT_SIZE[name]): readonly number[] {
  if (!Number.isInteger(size) || size < 0 || size > SPLIT_SEEDS)
    throw new RangeError(`split ${name}: size has to be an integer from 0 to ${SPLIT_SEEDS}, got ${size}`);
  const seed = (region: Region, i: number): number => FIRST_SEED[region] * SPLIT_SEEDS + i;
  return Array.from({ length: size }, (_, i) => {
    switch (name) {
      case 'train':
        return seed(i % 2 === 0 ? 'compound' : 'single', i >> 1);
      case 'train-compound':
        return seed('compound', i);
      default:
        return seed(name, i);
    }
  });
}

/** The scenario of a seed. Seeds below a million and past the last split are compound tasks of no split. */
export function scenarioOf(seed: number): DeskScenario {
  const random = new Random(seed).fork('desk');
  const region = (Object.keys(FIRST_SEED) as Region[]).find(
    (name) => FIRST_SEED[name] === Math.floor(seed / SPLIT_SEEDS),
  );
  const id = `desk-${region ?? 'open'}-${region ? seed % SPLIT_SEEDS : seed}`;
  if (region === 'single') {
    const [capability, shape] = Object.entries(SINGLE)[seed % 4] as [DeskCapability, DeskShape];
    return drawUntil(random, seed, id, shape, (needed) => needed.length === 1 && needed[0] === capability);
  }
  return region === 'shift'
    ? drawUntil(random, seed, id, SHIFT, (needed) => needed.length >= 3)
    : drawUntil(random, seed, id, COMPOUND, (needed) => needed.length >= 2);
}

/** Draws until the scenario needs what the split is about. */
function drawUntil(
  random: Random,
  seed: number,
  id: string,
  shape: DeskShape,
  accept: (needed: readonly DeskCapability[]) => boolean,
): DeskScenario {
  for (let attempt = 0; ; attempt++) {
    const scenario = drawScenario(random.fork(attempt), seed, id, shape);
    if (accept(capabilitiesOf(scenario))) return scenario;
  }
}
