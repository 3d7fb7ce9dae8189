import { runRollouts } from '../agent/rollout.js';
import type { AuthoredEnvironment, Finding } from '../analyst/contract.js';
import type { Engine } from '../engine/contract.js';
import { instantiateEnvironment } from '../environment/load-generated.js';
import { digestJson } from '../run/digest.js';
import { deriveSeed } from '../run/random.js';
import type { Message } from '../trajectory/trajectory.js';
import {
  type CalibrationFigures,
  calibrationFigures,
  type Judgement,
  judgeCalibration,
} from './calibrate.js';
import { type CheckReport, findingsOf } from './checks.js';
import type { SynthesisOptions } from './options.js';

/** Calibration scenarios start here: apart from those of the checks (0 …) and of training. */
export const CALIBRATION_SEEDS = 500_000;

/** One rollout of a calibration, a line of `calibration.jsonl`. */
export interface CalibrationRollout {
  readonly round: number;
  readonly scenario: number;
  readonly trial: number;
  readonly reward: number | null;
  readonly termination: string;
  readonly messages: readonly Message[];
}

/** One version of an environment: checked and, where the checks passed, calibrated. */
export interface Attempt {
  readonly round: number;
  readonly environment: AuthoredEnvironment;
  readonly checks: CheckReport;
  readonly figures: CalibrationFigures | null;
  readonly judgement: Judgement | null;
  readonly rollouts: readonly CalibrationRollout[];
}

/** What one attempt needs of the world; the search itself is free of engines. */
export interface AttemptSteps {
  check(environment: AuthoredEnvironment): Promise<CheckReport>;
  play(environment: AuthoredEnvironment, round: number): Promise<readonly CalibrationRollout[]>;
  repair(
    environment: AuthoredEnvironment,
    findings: readonly Finding[],
    round: number,
  ): Promise<AuthoredEnvironment>;
}

/**
 * Checks and calibrates, repairs what is out of range, and stops when all figures are in range, when nothing new
 * comes of a repair, or after `rounds` rounds.
 */
export async function searchDifficulty(
  first: AuthoredEnvironment,
  steps: AttemptSteps,
  options: Pick<SynthesisOptions, 'rounds' | 'successThreshold'>,
): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const seen = new Set<string>();
  let environment = first;
  for (let round = 1; round <= options.rounds; round++) {
    seen.add(versionOf(environment));
    const checks = await steps.check(environment);
    let attempt: Attempt = { round, environment, checks, figures: null, judgement: null, rollouts: [] };
    if (checks.passed) {
      const rollouts = await steps.play(environment, round);
      const figures = calibrationFigures(groupsOf(rollouts), options.successThreshold);
      attempt = { ...attempt, rollouts, figures, judgement: judgeCalibration(figures) };
    }
    attempts.push(attempt);
    const findings = findingsFor(attempt);
    if (findings.length === 0 || round === options.rounds) break;
    environment = await steps.repair(environment, findings, round);
    if (seen.has(versionOf(environment))) break;
  }
  return attempts;
}

const versionOf = ({ source, settings }: AuthoredEnvironment): string => digestJson({ source, settings });

function findingsFor({ checks, judgement }: Attempt): Finding[] {
  if (!checks.passed) return findingsOf(checks);
  if (!judgement || judgement.direction === 0) return [];
  const check = judgement.direction > 0 ? 'too hard' : 'too easy';
  return [{ check, detail: judgement.outside.join('; ') }];
}

/** Rewards by scenario; attempts broken by the infrastructure are left out, scenarios without any other too. */
function groupsOf(rollouts: readonly CalibrationRollout[]): number[][] {
  const groups = new Map<number, number[]>();
  for (const { scenario, reward } of rollouts)
    if (reward !== null) groups.set(scenario, [...(groups.get(scenario) ?? []), reward]);
  return [...groups.values()];
}

const RANK = { 'in range': 0, usable: 1, 'too easy': 2, 'too hard': 2 } as const;

/** The attempt to keep: best verdict, then the success rate nearest to the middle of the range, then the earlier. */
export function bestAttempt(attempts: readonly Attempt[]): Attempt {
  const cost = ({ judgement, figures, checks }: Attempt): number => {
    if (!checks.passed) return 100;
    if (!judgement || !figures) return 50;
    return 10 * RANK[judgement.verdict] + Math.abs(figures.successRate - 0.4);
  };
  return attempts.reduce((best, attempt) => (cost(attempt) < cost(best) ? attempt : best));
}

/** Plays the base model at temperature 1 on the calibration's scenarios. */
export async function playBase(
  engine: Engine,
  environment: AuthoredEnvironment,
  round: number,
  options: SynthesisOptions & {
    readonly seed: number;
    readonly name: string;
    readonly signal: AbortSignal;
    readonly onDone: (done: number, total: number) => void;
  },
): Promise<CalibrationRollout[]> {
  const requests = Array.from({ length: options.calibrationSeeds * options.calibrationGroup }, (_, i) => ({
    scenario: CALIBRATION_SEEDS + Math.floor(i / options.calibrationGroup),
    trial: i % options.calibrationGroup,
  }));
  const rollouts = await runRollouts(
    engine,
    instantiateEnvironment(environment.source, environment.settings),
    requests,
    {
      policy: { kind: 'base' },
      temperature: 1,
      seed: deriveSeed(options.seed, 'calibrate', options.name),
      maxTurnTokens: options.maxTurnTokens,
      concurrency: options.concurrency,
      signal: options.signal,
      onDone: options.onDone,
    },
  );
  return rollouts.map(({ request, score, termination, messages, broken }) => ({
    round,
    scenario: request.scenario,
    trial: request.trial,
    reward: broken === undefined ? score.reward : null,
    termination,
    messages,
  }));
}
