import type { Analyst, Capability, LabelledPair } from '../analyst/contract.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { type RaterFile, raterFile } from './rater-file.js';

export interface LabellingOptions {
  readonly raters: number;
  readonly signal?: AbortSignal;
  /** Called after each attempt that a rater labelled. */
  readonly onLabelled?: (done: number, total: number) => void;
}

/**
 * Attempts that are labelled together: all raters read these before any reads the next ones, so that a provider's
 * prompt cache still holds what their requests share.
 */
const BLOCK = 32;

/**
 * Lets every rater label the attempts that it sees, as many at once as the analyst takes; the files do not depend on
 * which answer comes first. A label that the analyst cannot give is missing, never guessed.
 * @throws what the analyst throws, after the labels that were being asked for are in (they may have been paid);
 *   Error when the evidence of a LACKING label is missing; `signal.reason` when aborted.
 */
export async function labelAll(
  trajectories: readonly Trajectory[],
  candidates: readonly Capability[],
  analyst: Pick<Analyst, 'label' | 'sees' | 'concurrency' | 'finish'>,
  { raters, signal, onLabelled }: LabellingOptions,
): Promise<RaterFile[]> {
  const seen = Array.from({ length: raters }, (_, rater) =>
    analyst.sees ? analyst.sees(trajectories, rater) : trajectories,
  );
  const labels = seen.map((list) => new Array<readonly LabelledPair[]>(list.length));
  const jobs = inBlocks(seen.map((list) => list.length));
  const total = seen.reduce((sum, list) => sum + list.length, 0);
  let done = 0;
  let failure: { readonly error: unknown } | null = null;
  const worker = async (): Promise<void> => {
    for (let next = jobs.next(); !next.done && failure === null; next = jobs.next()) {
      try {
        signal?.throwIfAborted();
        const [rater, place] = next.value;
        const trajectory = seen[rater]![place]!;
        const pairs = await analyst.label(trajectory, candidates, rater);
        labels[rater]![place] = checkedPairs(pairs, candidates, trajectory.id);
        onLabelled?.(++done, total);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, analyst.concurrency ?? 1) }, worker));
  // Assigned in the workers, which the compiler does not see.
  const failed = failure as { readonly error: unknown } | null;
  if (failed !== null) throw failed.error;
  analyst.finish?.();
  const names = candidates.map((candidate) => candidate.name);
  return seen.map((list, rater) => raterFile(rater, list, labels[rater]!, names));
}

/** Pairs of rater and place in its list, block by block. @param lengths of the raters' lists. */
function* inBlocks(lengths: readonly number[]): Generator<readonly [rater: number, place: number]> {
  for (let from = 0; from < Math.max(0, ...lengths); from += BLOCK)
    for (const [rater, length] of lengths.entries())
      for (let place = from; place < Math.min(from + BLOCK, length); place++) yield [rater, place];
}

/** The labels of the candidates; one that the analyst could not give is left out. */
function checkedPairs(
  pairs: readonly LabelledPair[],
  candidates: readonly Capability[],
  id: string,
): LabelledPair[] {
  return candidates.flatMap(({ name }) => {
    const pair = pairs.find((candidate) => candidate.capability === name);
    if (pair?.label === 'LACKING' && !pair.evidence)
      throw new Error(`trajectory ${id} is called LACKING in ${name} without evidence`);
    return pair ? [pair] : [];
  });
}
