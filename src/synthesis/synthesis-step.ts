import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Analyst, AuthorContext, AuthoredEnvironment, Capability } from '../analyst/contract.js';
import type { Engine } from '../engine/contract.js';
import type { Target } from '../environment/contract.js';
import { digestFile, digestJson } from '../run/digest.js';
import { InputError, TraceError } from '../run/errors.js';
import { writeFileWhole, writeJsonWhole } from '../run/files.js';
import { runPaths } from '../run/paths.js';
import type { StepContext } from '../run/step.js';
import { readTrajectories } from '../trajectory/store.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { type Attempt, bestAttempt, playBase, searchDifficulty } from './attempts.js';
import { retainedCapabilities } from './capabilities.js';
import { checkEnvironment } from './checks.js';
import { SYNTHESIS_DEFAULTS, type SynthesisOptions } from './options.js';

export interface SynthesisDeps {
  readonly engine: Engine;
  readonly target: Pick<Target, 'name' | 'tools' | 'toolKinds' | 'maxTurns' | 'successThreshold'>;
  readonly analyst: Pick<Analyst, 'name' | 'author' | 'repair'>;
}

/** `status.json` of an environment; written last, so that it stands only beside finished work. */
export interface EnvironmentStatus {
  /** Digest of everything the environment was made from. */
  readonly key: string;
  readonly capability: string;
  readonly accepted: boolean;
  /** Why, in words. */
  readonly reason: string;
  readonly successRate: number | null;
  /** Rollouts that calibration took, all rounds. */
  readonly rollouts: number;
}

/** `environments/summary.json`, and the step's result. */
export interface SynthesisSummary {
  readonly environments: readonly EnvironmentStatus[];
  readonly pairs: readonly EnvironmentStatus[];
  readonly rollouts: number;
}

/**
 * Step 2: writes, checks and calibrates one environment for each retained capability, greatest gap first, and then
 * one (checked, not calibrated) for each pair of accepted ones.
 *
 * Writes `environments/<capability>/{environment.ts, settings.json, CARD.md, checks.json, calibration.json,
 * calibration.jsonl, status.json}`, `environments/pairs/<a>+<b>/` and `environments/summary.json`. A finished
 * environment is not made again; a killed step ends with the same bytes.
 * @throws InputError without a diagnosis or base rollouts; TraceError when no environment was accepted.
 */
export async function runSynthesis(
  context: StepContext,
  options: Partial<SynthesisOptions>,
  deps: SynthesisDeps,
): Promise<SynthesisSummary> {
  return new SynthesisStep(context, { ...SYNTHESIS_DEFAULTS, ...options }, deps).run();
}

class SynthesisStep {
  #trajectories: readonly Trajectory[] = [];
  #inputs: unknown = null;

  constructor(
    readonly context: StepContext,
    readonly options: SynthesisOptions,
    readonly deps: SynthesisDeps,
  ) {}

  async run(): Promise<SynthesisSummary> {
    const { folder, emit, seed } = this.context;
    const capabilities = retainedCapabilities(folder);
    if (capabilities.length === 0)
      throw new TraceError(
        `${runPaths.capabilities(folder)}: no capability was retained, so there is nothing to train`,
        'Look at the warnings of the diagnosis; more attempts (rollout.trials) may be needed.',
      );
    const path = runPaths.baseTrajectories(folder);
    if (!existsSync(path))
      throw new InputError(
        `${path}: there are no base rollouts to learn from`,
        'Run the step `rollout` first.',
      );
    const trajectories: Trajectory[] = [];
    for await (const trajectory of readTrajectories(path)) trajectories.push(trajectory);
    this.#trajectories = trajectories;
    const { engine, target, analyst } = this.deps;
    const { tools, toolKinds, maxTurns } = target;
    this.#inputs = {
      seed,
      options: this.options,
      analyst: analyst.name,
      base: await engine.hash({ kind: 'base' }),
      trajectories: digestFile(path),
      target: { name: target.name, tools, toolKinds, maxTurns },
    };

    const environments: EnvironmentStatus[] = [];
    for (const capability of capabilities) environments.push(await this.#make(capability));
    const accepted = capabilities.filter((_, i) => environments[i]!.accepted);
    const pairs: EnvironmentStatus[] = [];
    if (this.options.pairs)
      for (const [i, a] of accepted.entries())
        for (const b of accepted.slice(i + 1)) pairs.push(await this.#makePair(a, b));
    const summary = {
      environments,
      pairs,
      rollouts: environments.reduce((sum, { rollouts }) => sum + rollouts, 0),
    };
    writeJsonWhole(join(folder, 'environments', 'summary.json'), summary);
    for (const { capability, accepted: good, reason } of [...environments, ...pairs])
      if (!good)
        emit({
          type: 'message',
          step: 'synthesize',
          level: 'warning',
          text: `${capability} is not trained on: ${reason}`,
        });
    if (accepted.length === 0)
      throw new TraceError(
        'no environment was accepted, so there is nothing to train on',
        `Their checks.json and calibration.json in ${join(folder, 'environments')} say why.`,
      );
    return summary;
  }

  async #make(capability: Capability): Promise<EnvironmentStatus> {
    const { signal, emit } = this.context;
    const { options } = this;
    const folder = runPaths.environment(this.context.folder, capability.name);
    const key = digestJson({ inputs: this.#inputs, capability });
    const finished = readStatus(folder, key);
    if (finished) return finished;
    rmSync(folder, { recursive: true, force: true });

    let authored: AuthoredEnvironment;
    try {
      authored = await this.deps.analyst.author(capability, this.#authorContext());
    } catch (error) {
      signal.throwIfAborted();
      return this.#end(folder, key, capability.name, [], (error as Error).message);
    }
    const attempts = await searchDifficulty(
      authored,
      {
        check: (environment) => this.#check(environment),
        repair: (environment, findings, round) => this.deps.analyst.repair(environment, findings, round),
        play: (environment, round) => {
          signal.throwIfAborted();
          return playBase(this.deps.engine, environment, round, {
            ...options,
            seed: this.context.seed,
            name: capability.name,
            signal,
            onDone: (done, total) =>
              emit({
                type: 'progress',
                step: 'synthesize',
                task: capability.name,
                done,
                total,
                unit: 'rollouts',
                note: round === 1 ? 'calibration' : `calibration, round ${round}`,
              }),
          });
        },
      },
      options,
    );
    return this.#end(folder, key, capability.name, attempts);
  }

  /** Writes what was made of a capability, the best attempt's files first and `status.json` last. */
  #end(
    folder: string,
    key: string,
    capability: string,
    attempts: readonly Attempt[],
    failure?: string,
  ): EnvironmentStatus {
    const best = attempts.length > 0 ? bestAttempt(attempts) : null;
    const verdict = best?.judgement?.verdict ?? null;
    const accepted = verdict === 'in range' || verdict === 'usable';
    const rollouts = attempts.reduce((sum, attempt) => sum + attempt.rollouts.length, 0);
    const reason = failure ?? reasonOf(best!, attempts.length);
    if (best) writeEnvironment(folder, best);
    writeJsonWhole(join(folder, 'calibration.json'), {
      capability,
      accepted,
      verdict,
      reason,
      rollouts,
      scenarios: this.options.calibrationSeeds,
      groupSize: this.options.calibrationGroup,
      chosen: best?.round ?? null,
      figures: best?.figures ?? null,
      rounds: attempts.map(({ round, environment, checks, figures, judgement }) => ({
        round,
        verdict: judgement?.verdict ?? 'checks failed',
        outside: judgement?.outside ?? checks.checks.filter(({ passed }) => !passed).map(({ name }) => name),
        settings: environment.settings,
        figures,
      })),
    });
    writeFileWhole(
      join(folder, 'calibration.jsonl'),
      attempts.flatMap((attempt) => attempt.rollouts.map((one) => `${JSON.stringify(one)}\n`)).join(''),
    );
    const status: EnvironmentStatus = {
      key,
      capability,
      accepted,
      reason,
      successRate: best?.figures?.successRate ?? null,
      rollouts,
    };
    writeJsonWhole(join(folder, 'status.json'), status);
    return status;
  }

  /** A pair is checked like any other and never calibrated: the base model is expected to fail it. */
  async #makePair(a: Capability, b: Capability): Promise<EnvironmentStatus> {
    const name = `${a.name}+${b.name}`;
    const folder = join(runPaths.environment(this.context.folder, 'pairs'), name);
    const capability = { name, definition: `Both at once. ${a.definition} ${b.definition}` };
    const key = digestJson({ inputs: this.#inputs, capability });
    const finished = readStatus(folder, key);
    if (finished) return finished;
    rmSync(folder, { recursive: true, force: true });
    this.context.signal.throwIfAborted();
    const base = { key, capability: name, successRate: null, rollouts: 0 };
    let environment: AuthoredEnvironment;
    try {
      environment = await this.deps.analyst.author(capability, this.#authorContext());
    } catch (error) {
      return { ...base, accepted: false, reason: (error as Error).message };
    }
    const checks = await this.#check(environment);
    const reason = checks.passed ? 'all checks passed' : failedChecks(checks);
    const status: EnvironmentStatus = { ...base, accepted: checks.passed, reason };
    // What failed leaves no folder: composition plays every environment it finds there.
    if (!checks.passed) return status;
    writeEnvironment(folder, { environment, checks });
    writeJsonWhole(join(folder, 'status.json'), status);
    return status;
  }

  #authorContext(): AuthorContext {
    return { target: this.deps.target, trajectories: this.#trajectories, seed: this.context.seed };
  }

  #check(environment: AuthoredEnvironment): ReturnType<typeof checkEnvironment> {
    this.context.signal.throwIfAborted();
    return checkEnvironment(environment, {
      target: this.deps.target,
      trajectories: this.#trajectories,
      seeds: this.options.checkSeeds,
      successThreshold: this.options.successThreshold,
    });
  }
}

function writeEnvironment(
  folder: string,
  { environment, checks }: Pick<Attempt, 'environment' | 'checks'>,
): void {
  writeFileWhole(join(folder, 'environment.ts'), environment.source);
  writeJsonWhole(join(folder, 'settings.json'), environment.settings);
  writeFileWhole(join(folder, 'CARD.md'), environment.card);
  writeJsonWhole(join(folder, 'checks.json'), checks);
}

/** The status of finished work made from the same inputs. */
function readStatus(folder: string, key: string): EnvironmentStatus | null {
  const path = join(folder, 'status.json');
  if (!existsSync(path)) return null;
  try {
    const status = JSON.parse(readFileSync(path, 'utf8')) as EnvironmentStatus;
    return status.key === key ? status : null;
  } catch {
    // Damaged: made again.
    return null;
  }
}

const failedChecks = (report: Attempt['checks']): string =>
  `checks failed: ${report.checks
    .filter(({ passed }) => !passed)
    .map(({ name, detail }) => `${name} (${detail})`)
    .join('; ')}`;

function reasonOf({ checks, figures, judgement }: Attempt, rounds: number): string {
  if (!checks.passed) return failedChecks(checks);
  const rate = `base success ${figures!.successRate.toFixed(2)}`;
  const tried = rounds > 1 ? ` after ${rounds} rounds` : '';
  switch (judgement!.verdict) {
    case 'in range':
      return `${rate}, all figures in range${tried}`;
    case 'usable':
      return `${rate}, usable though out of range${tried}: ${judgement!.outside.join('; ')}`;
    default:
      return `${judgement!.verdict} for the base model${tried}: ${judgement!.outside.join('; ')}`;
  }
}

/** One line for people. */
export function synthesisSummary({ environments, pairs, rollouts }: SynthesisSummary): string {
  const good = environments.filter(({ accepted }) => accepted);
  const rates = good.map(({ capability, successRate }) => `${capability} ${(successRate ?? 0).toFixed(2)}`);
  return `${good.length} of ${environments.length} environments accepted (base success: ${rates.join(', ')}), ${
    pairs.filter(({ accepted }) => accepted).length
  } pairs, ${rollouts} calibration rollouts`;
}
