import { Random } from '../../run/random.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { Analyst, Capability, LabelledPair } from '../contract.js';
import {
  isOfflineCapability,
  OFFLINE_NAMES,
  type OfflineCapability,
  offlineCapability,
} from './capabilities.js';
import { type Detection, detect } from './detect.js';
import { MODERATE, type Strictness, strictnessOf } from './strictness.js';

const MOST_CANDIDATES = 10;
/** Capabilities whose need belongs to the task; that of the others to what happens in an attempt. */
const OF_THE_ATTEMPT: ReadonlySet<OfflineCapability> = new Set([
  'error_recovery',
  'loop_avoidance',
  'well_formed_output',
]);
/** Strata with fewer tasks are seen whole by every rater: half of them would tell nothing. */
const SMALL_STRATUM = 20;

/** Task and reference: attempts at the same task share what it needs. */
const taskKey = ({ source, taskId }: Trajectory) => `${source}/${taskId}`;

/**
 * The offline analyst's share of the diagnosis: programmatic detectors, and raters that differ by the half of the
 * tasks they see and by how strictly they judge (docs/diagnosis.md). It never reads whether an attempt passed,
 * except to see both kinds in every half.
 */
export class OfflineRaters
  implements Pick<Analyst, 'name' | 'comparesWithReference' | 'discover' | 'label' | 'sees'>
{
  readonly name = 'offline';
  readonly comparesWithReference = true;
  readonly #seed: number;
  readonly #detections = new WeakMap<Trajectory, Map<string, Detection>>();
  /** What each task needs, from all its attempts. */
  readonly #needs = new Map<string, Set<OfflineCapability>>();

  constructor(options: { readonly seed: number }) {
    this.#seed = options.seed;
  }

  /** Candidates: what at least one failed attempt lacks, most frequent first, at most ten. */
  discover(trajectories: readonly Trajectory[]): Promise<readonly Capability[]> {
    this.#needs.clear();
    const failing = new Map<OfflineCapability, number>();
    for (const trajectory of trajectories) {
      const { findings, needed } = this.#detect(trajectory, MODERATE);
      const needs = this.#needs.get(taskKey(trajectory)) ?? new Set();
      this.#needs.set(taskKey(trajectory), needs);
      for (const capability of needed) needs.add(capability);
      if (trajectory.outcome !== 'failed') continue;
      for (const capability of new Set(findings.map((finding) => finding.capability)))
        failing.set(capability, (failing.get(capability) ?? 0) + 1);
    }
    const names = OFFLINE_NAMES.filter((name) => failing.has(name));
    names.sort(
      (a, b) => failing.get(b)! - failing.get(a)! || OFFLINE_NAMES.indexOf(a) - OFFLINE_NAMES.indexOf(b),
    );
    return Promise.resolve(names.slice(0, MOST_CANDIDATES).map(offlineCapability));
  }

  /** Labels of one attempt as this rater sees it; candidates that the detectors do not know are NA. */
  label(
    trajectory: Trajectory,
    candidates: readonly Capability[],
    rater: number,
  ): Promise<readonly LabelledPair[]> {
    const { findings, needed } = this.#detect(trajectory, strictnessOf(this.#seed, rater));
    const ofTask = this.#needs.get(taskKey(trajectory));
    return Promise.resolve(
      candidates.map(({ name }): LabelledPair => {
        const finding = findings.find(({ capability }) => capability === name);
        if (finding) return { capability: name, label: 'LACKING', evidence: finding.evidence };
        const needs =
          isOfflineCapability(name) &&
          (needed.has(name) || (!OF_THE_ATTEMPT.has(name) && ofTask?.has(name) === true));
        return { capability: name, label: needs ? 'PRESENT' : 'NA' };
      }),
    );
  }

  /**
   * Which attempts a rater labels: half of the tasks, raters 2k and 2k + 1 complementary halves (Shah and Samworth
   * 2013), drawn within strata of how a task's attempts went (all passed, all failed, mixed). All attempts at a
   * task stay together.
   */
  sees(trajectories: readonly Trajectory[], rater: number): readonly Trajectory[] {
    const outcomes = new Map<string, Set<string>>();
    for (const trajectory of trajectories) {
      const key = taskKey(trajectory);
      outcomes.set(key, (outcomes.get(key) ?? new Set()).add(trajectory.outcome));
    }
    const strata = new Map<string, string[]>();
    for (const [task, seen] of [...outcomes].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const stratum = [...seen].sort().join('+');
      strata.set(stratum, [...(strata.get(stratum) ?? []), task]);
    }
    const chosen = new Set<string>();
    for (const [stratum, tasks] of strata) {
      const random = new Random(this.#seed, '/halves').fork(Math.floor(rater / 2), stratum);
      const shuffled = random.shuffle(tasks);
      const middle = Math.ceil(shuffled.length / 2);
      const half = rater % 2 === 0 ? shuffled.slice(0, middle) : shuffled.slice(middle);
      for (const task of tasks.length < SMALL_STRATUM ? tasks : half) chosen.add(task);
    }
    return trajectories.filter((trajectory) => chosen.has(taskKey(trajectory)));
  }

  #detect(trajectory: Trajectory, strictness: Strictness): Detection {
    const known = this.#detections.get(trajectory) ?? new Map<string, Detection>();
    this.#detections.set(trajectory, known);
    const key = JSON.stringify(strictness);
    const detection = known.get(key) ?? detect(trajectory, strictness);
    known.set(key, detection);
    return detection;
  }
}
