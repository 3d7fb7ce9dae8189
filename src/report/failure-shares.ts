import type { CapabilitiesFile } from '../analyst/capabilities-file.js';

/** A part of the failed attempts; the parts are disjoint and hold all of them. */
export interface FailurePart {
  /** Index of the one retained capability that these lack; null for the other two kinds. */
  readonly capability: number | null;
  readonly kind: 'one' | 'several' | 'unexplained';
  readonly failures: number;
}

/** The failed attempts by what explains them: one retained capability alone, several, or none. */
export function failureParts(file: Pick<CapabilitiesFile, 'capabilities' | 'attempts'>): FailurePart[] {
  const retained = file.capabilities.flatMap((capability, i) => (capability.retained ? [i] : []));
  const alone = new Map(retained.map((i) => [i, 0]));
  let several = 0;
  let unexplained = 0;
  for (const { outcome, labels } of file.attempts) {
    if (outcome !== 'failed') continue;
    const lacking = retained.filter((i) => labels[i] === 'L');
    if (lacking.length === 0) unexplained++;
    else if (lacking.length > 1) several++;
    else alone.set(lacking[0]!, alone.get(lacking[0]!)! + 1);
  }
  const parts: FailurePart[] = [
    ...retained.map((i) => ({ capability: i, kind: 'one' as const, failures: alone.get(i)! })),
    { capability: null, kind: 'several', failures: several },
    { capability: null, kind: 'unexplained', failures: unexplained },
  ];
  return parts.filter(({ failures }) => failures > 0);
}
