import type { Evidence, Label } from '../analyst/contract.js';
import { fleissKappa, observedAgreement } from '../statistics/agreement.js';
import { benjaminiHochberg, fisherExact } from '../statistics/hypothesis.js';
import type { LabelCounts } from './contrast.js';
import type { RaterFile } from './rater-file.js';

const LABELS: readonly Label[] = ['NA', 'PRESENT', 'LACKING'];
const LIST_OF = { NA: 'na', PRESENT: 'present', LACKING: 'lacking' } as const;

/** Labels of one trajectory for one capability by all raters who saw it. */
interface Votes {
  readonly failed: boolean;
  readonly counts: { [label in Label]: number };
}

function votesOf(capability: string, raters: readonly RaterFile[]): Map<string, Votes> {
  const votes = new Map<string, Votes>();
  for (const { labels } of raters) {
    const lists = labels[capability];
    if (!lists) continue;
    for (const label of LABELS)
      for (const outcome of ['failed', 'passed'] as const)
        for (const id of lists[`${LIST_OF[label]}_${outcome}`]) {
          const vote = votes.get(id) ?? {
            failed: outcome === 'failed',
            counts: { NA: 0, PRESENT: 0, LACKING: 0 },
          };
          vote.counts[label]++;
          votes.set(id, vote);
        }
  }
  return votes;
}

/** The label of most raters; without a majority PRESENT, as the method decides doubt. */
function majority({ counts }: Votes): Label {
  const total = counts.NA + counts.PRESENT + counts.LACKING;
  if (counts.LACKING * 2 > total) return 'LACKING';
  return counts.NA * 2 > total ? 'NA' : 'PRESENT';
}

/** What the raters say together about one capability. */
export interface Consensus extends LabelCounts {
  readonly name: string;
  /** Majority label of each trajectory that a rater labelled. */
  readonly labels: ReadonlyMap<string, Label>;
  /** Fisher's exact test of lacking against failing, two-sided. */
  readonly p: number;
  /** p adjusted over the candidates by Benjamini and Hochberg. */
  readonly q: number;
  /** Fleiss' kappa over the trajectories that two raters or more labelled; null without one. */
  readonly kappa: number | null;
  /** Share of pairs of raters with equal labels; null like κ. */
  readonly agreement: number | null;
  /** (Rater, trajectory) pairs without a label. */
  readonly missing: number;
}

/** Trajectories that a rater saw and gave no label; all of them where he left the capability out. */
function missingLabels({ labels, missing, totals }: RaterFile, capability: string): number {
  if (!labels[capability]) return totals.total_failed + totals.total_passed;
  return missing?.[capability]?.length ?? 0;
}

/** Majority labels, counts, tests and agreement of every candidate. */
export function consensusOf(candidates: readonly string[], raters: readonly RaterFile[]): Consensus[] {
  const rows = candidates.map((name) => {
    const votes = votesOf(name, raters);
    const labels = new Map([...votes].map(([id, vote]) => [id, majority(vote)]));
    const count = (failed: boolean, label: Label) =>
      [...votes].filter(([id, vote]) => vote.failed === failed && labels.get(id) === label).length;
    const counts: LabelCounts = {
      lackingFailed: count(true, 'LACKING'),
      presentFailed: count(true, 'PRESENT'),
      naFailed: count(true, 'NA'),
      lackingPassed: count(false, 'LACKING'),
      presentPassed: count(false, 'PRESENT'),
    };
    const table = [...votes.values()].map((vote) => LABELS.map((label) => vote.counts[label]));
    const { lackingFailed, presentFailed, lackingPassed, presentPassed } = counts;
    return {
      ...counts,
      name,
      labels,
      p: fisherExact(lackingFailed, presentFailed, lackingPassed, presentPassed),
      kappa: fleissKappa(table),
      agreement: observedAgreement(table),
      missing: raters.reduce((sum, rater) => sum + missingLabels(rater, name), 0),
    };
  });
  const adjusted = benjaminiHochberg(rows.map((row) => row.p));
  return rows.map((row, i) => ({ ...row, q: adjusted[i]! }));
}

/** Evidence that the first rater who calls the pair LACKING gives. */
export function evidenceFor(capability: string, id: string, raters: readonly RaterFile[]): Evidence | null {
  for (const { labels, evidence } of raters) {
    const lists = labels[capability];
    if (!lists?.lacking_failed.includes(id) && !lists?.lacking_passed.includes(id)) continue;
    const found = evidence?.[capability]?.[id];
    if (found) return found;
  }
  return null;
}
