import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runRollouts } from '../agent/rollout.js';
import type { AdapterHandle, Engine, MixtureHandle, PolicyRef } from '../engine/contract.js';
import type { Target } from '../environment/contract.js';
import { readBudget } from '../run/budget.js';
import { digestJson } from '../run/digest.js';
import { InputError, TraceError } from '../run/errors.js';
import { writeJsonWhole } from '../run/files.js';
import { runPaths } from '../run/paths.js';
import { deriveSeed } from '../run/random.js';
import type { StepContext } from '../run/step.js';
import { EVALUATION_DEFAULTS, type EvaluationOptions } from './options.js';
import { outcomesPath, readOutcomes, toOutcome, writeOutcomes } from './outcomes.js';
import type { Cell, Evaluation } from './result.js';
import { recordRouting } from './routing.js';
import { listSystems, type System } from './systems.js';
import { type CellOutcomes, comparisons, errorKinds, gains, systemResult } from './tables.js';

/** The systems whose comparison decides: all their cells come before the merges' and adapters'. */
const DECIDING = ['mixture', 'base', 'direct-grpo', 'mixed-lora'];

/**
 * Measures base, mixture, baselines, merges and single adapters on held-out tasks of the target: the same tasks
 * and, at temperature 1, the same seeds for all. Outcomes are kept task by task in
 * `evaluation/<system>.<split>.<decoding>.jsonl`, so that a killed evaluation goes on with the first system that
 * is not done and ends with the same bytes. Writes `evaluation/routing-example.json` and `evaluation.json`.
 * @param options what is absent is taken from `EVALUATION_DEFAULTS`.
 * @throws TraceError without a composed mixture; what the engine throws.
 */
export async function runEvaluation(
  context: StepContext,
  options: Partial<EvaluationOptions>,
  deps: { readonly engine: Engine; readonly target: Target },
): Promise<Evaluation> {
  return new EvaluateStep(context, { ...EVALUATION_DEFAULTS, ...options }, deps.engine, deps.target).run();
}

class EvaluateStep {
  readonly #context: StepContext;
  readonly #options: EvaluationOptions;
  readonly #engine: Engine;
  readonly #target: Target;
  #done = 0;

  constructor(context: StepContext, options: EvaluationOptions, engine: Engine, target: Target) {
    this.#context = context;
    this.#options = options;
    this.#engine = engine;
    this.#target = target;
  }

  async run(): Promise<Evaluation> {
    const { folder, seed } = this.#context;
    const slots = readSlots(folder);
    const budget = readBudget(folder);
    if (budget.unknown.length > 0)
      this.#warn(
        `rollouts spent on ${budget.unknown.join(', ')} are not known (no summary.json): they count as 0`,
      );
    const systems = listSystems(folder, slots, budget, this.#options.merges);
    const adapters: AdapterHandle[] = [];
    try {
      for (const name of slots)
        adapters.push(await this.#engine.loadAdapter(runPaths.adapter(folder, name), name));
      const measured = await this.#measure(systems, adapters);
      const cells = this.#cells().flatMap((cell) =>
        systems.map(({ name }) => measured.get(cellName(name, cell))!),
      );
      await this.#routing(slots, adapters, measured);
      const result: Evaluation = {
        target: this.#target.name,
        model: this.#engine.info.model,
        seed,
        settings: this.#options,
        systems: cells.map((cell) =>
          systemResult(cell, systems.find((system) => system.name === cell.name)!.rollouts),
        ),
        comparisons: this.#cells().flatMap((cell) => comparisons(cells.filter((other) => isIn(other, cell)))),
        gains: this.#gains(measured),
        errors: cells.filter(({ name }) => DECIDING.includes(name)).map(errorKinds),
        baselines: readBaselines(folder, systems),
      };
      writeJsonWhole(runPaths.evaluation(folder), result);
      return result;
    } finally {
      for (const adapter of adapters) await this.#engine.release(adapter);
    }
  }

  #cells(): Cell[] {
    return this.#options.splits.flatMap((split) =>
      this.#options.decodings.map((decoding) => ({ split, decoding })),
    );
  }

  /** All systems in all cells, by `cellName`. */
  async #measure(
    systems: readonly System[],
    adapters: readonly AdapterHandle[],
  ): Promise<Map<string, CellOutcomes>> {
    const measured = new Map<string, CellOutcomes>();
    const total = systems.length * this.#cells().length * this.#options.tasks;
    const deciding = systems.filter(({ name }) => DECIDING.includes(name));
    const rest = systems.filter(({ name }) => !DECIDING.includes(name));
    // Deciding systems cell by cell, so that the first comparison stands early; the rest system by system.
    const order: (readonly [System, Cell])[] = [
      ...this.#cells().flatMap((cell) => deciding.map((system) => [system, cell] as const)),
      ...rest.flatMap((system) => this.#cells().map((cell) => [system, cell] as const)),
    ];
    const open = new Map<string, PolicyRef>();
    const left = new Map<string, number>(systems.map(({ name }) => [name, this.#cells().length]));
    const close = async (name: string) => {
      const policy = open.get(name);
      open.delete(name);
      if (policy && policy.kind !== 'base' && !adapters.includes(policy as AdapterHandle))
        await this.#engine.release(policy);
    };
    try {
      for (const [system, cell] of order) {
        const policy = open.get(system.name) ?? (await system.open(this.#engine, adapters));
        open.set(system.name, policy);
        measured.set(cellName(system.name, cell), await this.#measureCell(system.name, cell, policy, total));
        const remaining = left.get(system.name)! - 1;
        left.set(system.name, remaining);
        if (remaining === 0) await close(system.name);
      }
    } finally {
      for (const name of [...open.keys()]) await close(name);
    }
    return measured;
  }

  async #measureCell(name: string, cell: Cell, policy: PolicyRef, total: number): Promise<CellOutcomes> {
    const { folder, emit, signal } = this.#context;
    const seeds = this.#seeds(cell);
    const path = outcomesPath(folder, name, cell);
    const key = digestJson({
      policy: policy.kind === 'mixture' ? await this.#mixtureDigest(policy) : await this.#engine.hash(policy),
      base: await this.#engine.hash({ kind: 'base' }),
      target: {
        name: this.#target.name,
        tools: this.#target.tools,
        threshold: this.#target.successThreshold,
      },
      seeds,
      seed: this.#context.seed,
      decoding: cell.decoding,
      maxTurnTokens: this.#options.maxTurnTokens,
    });
    const title = `${name}, ${cell.split}, ${cell.decoding}`;
    const progress = (done: number, note: string) =>
      emit({
        type: 'progress',
        step: 'evaluate',
        task: 'held-out tasks',
        done: this.#done + done,
        total,
        unit: 'tasks',
        note,
      });
    let outcomes = readOutcomes(path, key);
    if (!outcomes) {
      signal.throwIfAborted();
      const rollouts = await runRollouts(
        this.#engine,
        this.#target,
        seeds.map((scenario) => ({ scenario, trial: 0 })),
        {
          policy,
          temperature: cell.decoding === 'greedy' ? 0 : 1,
          seed: this.#samplingSeed(),
          maxTurnTokens: this.#options.maxTurnTokens,
          concurrency: this.#options.concurrency,
          signal,
          onDone: (done) => progress(done, title),
        },
      );
      outcomes = rollouts.map((rollout) => toOutcome(rollout, this.#target));
      writeOutcomes(path, key, outcomes);
    }
    this.#done += seeds.length;
    const result: CellOutcomes = { name, ...cell, outcomes };
    const { rate, broken } = systemResult(result, 0);
    progress(0, `${title}: ${(100 * rate).toFixed(1)} %`);
    if (broken > 0)
      this.#warn(
        `${title}: the environment broke in ${broken} of ${seeds.length} attempts; they are left out`,
      );
    return result;
  }

  #warn(text: string): void {
    this.#context.emit({ type: 'message', step: 'evaluate', level: 'warning', text });
  }

  /** One sampling seed for all systems: what differs between them is the policy alone. */
  #samplingSeed(): number {
    return deriveSeed(this.#context.seed, 'evaluate');
  }

  #seeds({ split }: Cell): readonly number[] {
    const { tasks, skip } = this.#options;
    const seeds = this.#target.split(split, skip + tasks);
    if (seeds.length < skip + tasks)
      throw new InputError(
        `target ${this.#target.name} has ${seeds.length} tasks in its ${split} split, ${skip + tasks} are asked for`,
        'Lower evaluate.tasks (or evaluate.skip) in trace.config.',
      );
    return seeds.slice(skip);
  }

  /** A mixture's hash covers its gates alone: its adapters decide as much. */
  async #mixtureDigest(mixture: MixtureHandle): Promise<string> {
    const { frozen } = readComposition(this.#context.folder);
    return digestJson([await this.#engine.hash(mixture), frozen]);
  }

  async #routing(
    slots: readonly string[],
    adapters: readonly AdapterHandle[],
    measured: ReadonlyMap<string, CellOutcomes>,
  ): Promise<void> {
    const gates = this.#engine.gates;
    if (!gates) return;
    const { folder } = this.#context;
    const [cell] = this.#cells();
    const base = measured.get(cellName('base', { split: cell!.split, decoding: 'greedy' }));
    const mixture = await gates.loadMixture(runPaths.composed(folder), adapters);
    try {
      const example = await recordRouting(
        this.#context,
        this.#engine,
        this.#target,
        mixture,
        slots,
        new Map(base?.outcomes.map((outcome) => [outcome.seed, outcome.passed])),
        { seeds: this.#seeds(cell!), maxTurnTokens: this.#options.maxTurnTokens, seed: this.#samplingSeed() },
      );
      writeJsonWhole(join(folder, 'evaluation', 'routing-example.json'), example);
    } finally {
      await this.#engine.release(mixture);
    }
  }

  #gains(measured: ReadonlyMap<string, CellOutcomes>) {
    const target = this.#target;
    if (!target.capabilitiesOf) return [];
    return this.#cells().flatMap((cell) =>
      gains(measured.get(cellName('base', cell))!, measured.get(cellName('mixture', cell))!, (seed) =>
        target.capabilitiesOf!(target.scenario(seed)),
      ),
    );
  }
}

const cellName = (system: string, { split, decoding }: Cell) => `${system}.${split}.${decoding}`;
const isIn = (other: Cell, cell: Cell) => other.split === cell.split && other.decoding === cell.decoding;

interface ComposedFile {
  readonly slots: readonly string[];
  readonly frozen: unknown;
}

function readComposition(folder: string): ComposedFile {
  const path = join(runPaths.composed(folder), 'composition.json');
  if (!existsSync(path))
    throw new TraceError(`there is no mixture: ${path} is missing`, 'Compose it first: `trace compose`.');
  return JSON.parse(readFileSync(path, 'utf8')) as ComposedFile;
}

const readSlots = (folder: string) => readComposition(folder).slots;

/** Summaries of the baselines that were evaluated, with their settings. */
function readBaselines(folder: string, systems: readonly System[]): Record<string, unknown> {
  const summaries: Record<string, unknown> = {};
  for (const { name } of systems) {
    const path = join(runPaths.baseline(folder, name), 'summary.json');
    if (existsSync(path)) summaries[name] = JSON.parse(readFileSync(path, 'utf8'));
  }
  return summaries;
}
