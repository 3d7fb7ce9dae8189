import { mean, populationStd } from '../statistics/summary.js';
import type { LabelLists, RaterFile } from './rater-file.js';
import type { DiagnosisSettings } from './settings.js';

/** Labels of one capability counted over failed and passed attempts. */
export interface LabelCounts {
  readonly lackingFailed: number;
  readonly presentFailed: number;
  readonly naFailed: number;
  readonly lackingPassed: number;
  readonly presentPassed: number;
}

/** How one rater sees one capability (docs/diagnosis.md has the formulas). */
export interface RaterScore {
  /** LF / F. */
  readonly coverage: number;
  /** ER−: LF / (LF + PF); 0 when nothing applies. */
  readonly failedErrorRate: number;
  /** ER+: LP / (LP + PP); 0 when nothing applies. */
  readonly passedErrorRate: number;
  /** Δ = ER− − ER+. */
  readonly gap: number;
  readonly passes: boolean;
}

/** Rates are quotients: one that equals a threshold exactly may come out a rounding below it. */
const reaches = (value: number, threshold: number) => value >= threshold - 1e-9;

const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);

/** Coverage and contrastive gap of counted labels. F is what was labelled: a missing label counts for nothing. */
export function scoreOf(
  counts: LabelCounts,
  settings: Pick<DiagnosisSettings, 'coverage' | 'gap'>,
): RaterScore {
  const { lackingFailed, presentFailed, naFailed, lackingPassed, presentPassed } = counts;
  const coverage = share(lackingFailed, lackingFailed + presentFailed + naFailed);
  const failedErrorRate = share(lackingFailed, lackingFailed + presentFailed);
  const passedErrorRate = share(lackingPassed, lackingPassed + presentPassed);
  const gap = failedErrorRate - passedErrorRate;
  return {
    coverage,
    failedErrorRate,
    passedErrorRate,
    gap,
    passes: reaches(coverage, settings.coverage) && reaches(gap, settings.gap),
  };
}

/** Coverage and contrastive gap of one capability from one rater's lists. */
export function raterScore(
  lists: LabelLists,
  settings: Pick<DiagnosisSettings, 'coverage' | 'gap'>,
): RaterScore {
  return scoreOf(
    {
      lackingFailed: lists.lacking_failed.length,
      presentFailed: lists.present_failed.length,
      naFailed: lists.na_failed.length,
      lackingPassed: lists.lacking_passed.length,
      presentPassed: lists.present_passed.length,
    },
    settings,
  );
}

/** A capability over all raters. */
export interface CapabilityScore {
  readonly name: string;
  readonly coverageMean: number;
  /** Population standard deviation over the raters. */
  readonly coverageStd: number;
  readonly gapMean: number;
  readonly gapStd: number;
  readonly ratersPassed: number;
  readonly retained: boolean;
}

/**
 * Scores every candidate and orders them: retained ones first, each group by falling mean gap, then by name.
 * A rater whose file misses a capability does not pass it, and is left out of its means.
 */
export function selectCapabilities(
  candidates: readonly string[],
  raters: readonly RaterFile[],
  settings: DiagnosisSettings,
): CapabilityScore[] {
  return candidates
    .map((name): CapabilityScore => {
      const scores = raters.flatMap((file) => {
        const lists = file.labels[name];
        return lists ? [raterScore(lists, settings)] : [];
      });
      const ratersPassed = scores.filter((score) => score.passes).length;
      const coverages = scores.map((score) => score.coverage);
      const gaps = scores.map((score) => score.gap);
      return {
        name,
        coverageMean: mean(coverages),
        coverageStd: populationStd(coverages),
        gapMean: mean(gaps),
        gapStd: populationStd(gaps),
        ratersPassed,
        retained: ratersPassed >= settings.ratersNeeded,
      };
    })
    .sort(
      (a, b) =>
        Number(b.retained) - Number(a.retained) || b.gapMean - a.gapMean || (a.name < b.name ? -1 : 1),
    );
}
