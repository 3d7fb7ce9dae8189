import type { Trajectory } from '../trajectory/trajectory.js';
import { callsOf } from './calls.js';

/** A passed attempt to hold a failed one against. */
export interface Neighbour {
  readonly trajectory: Trajectory;
  readonly sameTask: boolean;
  /** 2 for the same task; below, the mean of the two shares that `how` names. */
  readonly likeness: number;
  /** How it was found, in words. */
  readonly how: string;
}

/** What two tasks are compared by: the tools that solve them (without a reference: that were called), and words. */
interface Features {
  readonly tools: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
}

/** Characters of the user's words that are read. */
const MOST_TEXT = 4000;

const known = new WeakMap<Trajectory, Features>();

function featuresOf(trajectory: Trajectory): Features {
  const found = known.get(trajectory);
  if (found) return found;
  const { reference, messages } = trajectory;
  const tools = reference?.actions.length
    ? reference.actions.map(({ name }) => name)
    : callsOf(trajectory).map(({ name }) => name);
  let text = '';
  for (const message of messages)
    if (message.role === 'user' && text.length < MOST_TEXT)
      text += ` ${message.content.slice(0, MOST_TEXT - text.length)}`;
  const features = {
    tools: new Set(tools),
    words: new Set(text.toLowerCase().match(/\p{L}{3,}/gu) ?? []),
  };
  known.set(trajectory, features);
  return features;
}

/** |A ∩ B| and |A ∪ B|. */
function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): { both: number; either: number } {
  let both = 0;
  for (const item of a) if (b.has(item)) both++;
  return { both, either: a.size + b.size - both };
}

/**
 * A passed attempt at the same task; without one, the passed attempt whose task is most alike: the mean of the
 * Jaccard indices of tools and of the user's words (of tools alone, where no user speaks). Null when none passed.
 */
export function bestNeighbour(failed: Trajectory, passed: readonly Trajectory[]): Neighbour | null {
  const same = passed.find(({ taskId, source }) => taskId === failed.taskId && source === failed.source);
  if (same)
    return { trajectory: same, sameTask: true, likeness: 2, how: 'Both are attempts at the same task.' };
  const mine = featuresOf(failed);
  let best: Neighbour | null = null;
  for (const trajectory of passed) {
    const its = featuresOf(trajectory);
    const tools = shared(mine.tools, its.tools);
    const words = shared(mine.words, its.words);
    const share = ({ both, either }: typeof tools) => (either === 0 ? 0 : both / either);
    const spoken = words.either > 0;
    const likeness = spoken ? (share(tools) + share(words)) / 2 : share(tools);
    if (best && likeness <= best.likeness) continue;
    const by = [`${tools.both} of ${tools.either} tools shared`];
    if (spoken) by.push(`${Math.round(100 * share(words))} % of the user’s words`);
    best = {
      trajectory,
      sameTask: false,
      likeness,
      how: `No attempt at this task passed; this is the passed attempt at the most alike task (${by.join(', ')}).`,
    };
  }
  return best;
}
