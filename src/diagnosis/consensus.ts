import type { Evidence, Label } from '../analyst/contract.js';
import { fleissKappa } from '../statistics/agreement.js';
import { newcombeDifference } from '../statistics/difference.js';
import { benjaminiHochberg, fisherExact } from '../statistics/hypothesis.js';
import { wilson } from '../statistics/proportion.js';
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

/** What the raters say together about one capability, with the errors of the sample. */
export interface Consensus {
  readonly name: string;
  /** Majority label of each trajectory. */
  readonly labels: ReadonlyMap<string, Label>;
  readonly lackingFailed: number;
  readonly presentFailed: number;
  readonly lackingPassed: number;
  readonly presentPassed: number;
  readonly failed: number;
  readonly passed: number;
  /** Wilson, 95 %, of the share of failed trajectories that lack it. */
  readonly coverageInterval: readonly [number, number];
  /** Newcombe, 95 %, of ER− − ER+. */
  readonly gapInterval: readonly [number, number];
  /** Fisher's exact test of lacking against passing, two-sided. */
  readonly p: number;
  /** p adjusted over the candidates by Benjamini and Hochberg. */
  readonly q: number;
  /** Fleiss' kappa of the raters; null when no trajectory was seen by two. */
  readonly kappa: number | null;
}

/** Majority labels, intervals and tests of every candidate. */
export function consensusOf(candidates: readonly string[], raters: readonly RaterFile[]): Consensus[] {
  const rows = candidates.map((name) => {
    const votes = votesOf(name, raters);
    const labels = new Map([...votes].map(([id, vote]) => [id, majority(vote)]));
    const count = (failed: boolean, label: Label) =>
      [...votes].filter(([id, vote]) => vote.failed === failed && labels.get(id) === label).length;
    const lackingFailed = count(true, 'LACKING');
    const presentFailed = count(true, 'PRESENT');
    const lackingPassed = count(false, 'LACKING');
    const presentPassed = count(false, 'PRESENT');
    const failed = [...votes.values()].filter((vote) => vote.failed).length;
    return {
      name,
      labels,
      lackingFailed,
      presentFailed,
      lackingPassed,
      presentPassed,
      failed,
      passed: votes.size - failed,
      coverageInterval: failed === 0 ? ([0, 1] as const) : wilson(lackingFailed, failed),
      gapInterval: newcombeDifference(
        lackingFailed,
        lackingFailed + presentFailed,
        lackingPassed,
        lackingPassed + presentPassed,
      ).interval,
      p: fisherExact(lackingFailed, presentFailed, lackingPassed, presentPassed),
      kappa: fleissKappa([...votes.values()].map(({ counts }) => LABELS.map((label) => counts[label]))),
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
