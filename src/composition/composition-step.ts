import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AdapterHandle, Engine, MixtureHandle } from '../engine/contract.js';
import { digestJson } from '../run/digest.js';
import { TraceError } from '../run/errors.js';
import { writeJsonWhole } from '../run/files.js';
import { runPaths } from '../run/paths.js';
import { Random } from '../run/random.js';
import type { StepContext } from '../run/step.js';
import type { Composition, PairResult } from './composition.js';
import type { GateEpisode } from './episodes.js';
import { type FitResult, fitGates } from './fit.js';
import { COMPOSITION_DEFAULTS, type CompositionOptions } from './options.js';
import { EpisodePlayer } from './player.js';

/**
 * Step 4: composes the adapters of a run into a mixture that routes every token. No task and no label of the
 * target is read. Each adapter plays its own environment; gates are fitted to the passed episodes; then the
 * mixture itself plays the environments of two capabilities, its passed episodes join the data and the gates are
 * fitted further from where they stand.
 *
 * Writes `composed/{gate_config.json, gate.safetensors, composition.json, pairs.json}`; episodes and the gates
 * between the two fits are kept beside them, so that a killed step goes on from the last finished piece and ends
 * with the same bytes.
 * @param options what is absent is taken from `COMPOSITION_DEFAULTS`.
 * @throws TraceError without adapters, when the engine has no gates, when no episode passed, or when a parameter
 * that had to stay frozen changed.
 */
export async function runComposition(
  context: StepContext,
  options: Partial<CompositionOptions>,
  deps: { readonly engine: Engine },
): Promise<Composition> {
  return new ComposeStep(context, { ...COMPOSITION_DEFAULTS, ...options }, deps.engine).run();
}

class ComposeStep {
  readonly #context: StepContext;
  readonly #options: CompositionOptions;
  readonly #engine: Engine;
  readonly #gates: NonNullable<Engine['gates']>;
  readonly #capabilities: readonly string[];

  constructor(context: StepContext, options: CompositionOptions, engine: Engine) {
    if (!engine.gates)
      throw new TraceError(
        `the engine of ${engine.info.model} does not reach hidden states, so it cannot hold token gates`,
        'Compose with the local engine.',
      );
    this.#context = context;
    this.#options = options;
    this.#engine = engine;
    this.#gates = engine.gates;
    this.#capabilities = options.capabilities ?? trainedCapabilities(context.folder);
    if (this.#capabilities.length === 0)
      throw new TraceError(
        `there are no adapters in ${join(context.folder, 'adapters')}`,
        'Train them first: `trace train`.',
      );
  }

  async run(): Promise<Composition> {
    const { folder } = this.#context;
    const engine = this.#engine;
    const base = await engine.hash({ kind: 'base' });
    const adapters: AdapterHandle[] = [];
    let mixture: MixtureHandle | undefined;
    try {
      for (const name of this.#capabilities)
        adapters.push(await engine.loadAdapter(runPaths.adapter(folder, name), name));
      const before = await this.#hashes(adapters);
      const key = digestJson({ base, before, options: this.#options, seed: this.#context.seed });

      const player = new EpisodePlayer(this.#context, this.#options, engine, key);
      const own = await this.#playOwn(adapters, player);
      const sources = own.map(({ name, episodes }) => source(name, 'adapter', episodes));
      const data = own.flatMap(({ episodes }) => episodes);
      const first = await this.#fitOnce(adapters, data, key);
      mixture = first.mixture;
      const fits: FitResult[] = [first.fit];

      const pairs = this.#options.pairRollouts > 0 ? this.#pairs() : [];
      const played = await this.#playPairs(mixture, pairs, player);
      for (const { name, episodes } of played) {
        sources.push(source(name, 'mixture', episodes));
        data.push(...episodes);
      }
      if (played.length > 0) fits.push(await this.#fit(mixture, data, 1));
      await this.#proveFrozen(base, before, adapters);

      const result: Composition = {
        key,
        slots: this.#capabilities,
        gateParameters: this.#gates.parameterCount(mixture),
        frozen: {
          base,
          adapters: Object.fromEntries(this.#capabilities.map((name, i) => [name, before[i]!])),
        },
        gates: await engine.hash(mixture),
        sources,
        fits,
        rollouts: player.sampled,
        settings: this.#options,
      };
      await this.#gates.saveMixture(mixture, runPaths.composed(folder));
      writeJsonWhole(
        join(runPaths.composed(folder), 'pairs.json'),
        played.map(({ name, episodes }, i) => pairResult(pairs[i]!, source(name, 'mixture', episodes))),
      );
      writeJsonWhole(join(runPaths.composed(folder), 'composition.json'), result);
      return result;
    } finally {
      if (mixture) await engine.release(mixture);
      for (const adapter of adapters) await engine.release(adapter);
    }
  }

  /** Every adapter in its own environment. */
  async #playOwn(adapters: readonly AdapterHandle[], player: EpisodePlayer): Promise<Played[]> {
    const played: Played[] = [];
    for (const [i, name] of this.#capabilities.entries()) {
      const folder = runPaths.environment(this.#context.folder, name);
      const episodes = await player.play(name, folder, adapters[i]!, this.#options.rollouts);
      if (!episodes.some((episode) => episode.passed))
        this.#warn(
          `adapter ${name} passed none of its ${episodes.length} episodes: the gates cannot learn to use it`,
        );
      played.push({ name, episodes });
    }
    return played;
  }

  /** Environments of two capabilities among those composed, by name. */
  #pairs(): { readonly name: string; readonly pair: readonly [string, string] }[] {
    const folder = runPaths.environment(this.#context.folder, 'pairs');
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .sort()
      .map((name) => ({ name, pair: name.split('+') as unknown as readonly [string, string] }))
      .filter(({ pair }) => pair.length === 2 && pair.every((name) => this.#capabilities.includes(name)));
  }

  async #playPairs(
    mixture: MixtureHandle,
    pairs: readonly { readonly name: string }[],
    player: EpisodePlayer,
  ): Promise<Played[]> {
    const played: Played[] = [];
    // One after the other with the same gates: the files then do not depend on where an earlier run was killed.
    for (const { name } of pairs) {
      const folder = join(runPaths.environment(this.#context.folder, 'pairs'), name);
      const episodes = await player.play(name, folder, mixture, this.#options.pairRollouts);
      played.push({ name, episodes });
    }
    return played;
  }

  /**
   * The first fit, from gates at zero; its gates are stored. The mixture is then read back from there, whether
   * this process fitted it or an earlier one: both go on with the same parameters and fresh optimizer moments.
   */
  async #fitOnce(
    adapters: readonly AdapterHandle[],
    data: readonly GateEpisode[],
    runKey: string,
  ): Promise<{ mixture: MixtureHandle; fit: FitResult }> {
    const folder = join(runPaths.composed(this.#context.folder), 'first-fit');
    const record = join(folder, 'fit.json');
    const key = digestJson({ runKey, data });
    let fit = readFit(record, key);
    if (!fit) {
      const fresh = await this.#gates.createMixture({ name: 'mixture', adapters });
      try {
        this.#assertParameterCount(fresh, adapters.length);
        fit = await this.#fit(fresh, data, 0);
        await this.#gates.saveMixture(fresh, folder);
        writeJsonWhole(record, { key, fit });
      } finally {
        await this.#engine.release(fresh);
      }
    }
    const mixture = await this.#gates.loadMixture(folder, adapters);
    this.#assertParameterCount(mixture, adapters.length);
    return { mixture, fit };
  }

  #fit(mixture: MixtureHandle, data: readonly GateEpisode[], round: number): Promise<FitResult> {
    const { emit, seed, signal } = this.#context;
    const examples = data.flatMap((episode) => episode.examples);
    if (examples.length === 0)
      throw new TraceError(
        'no adapter passed an episode of its environment, so there is nothing to fit the gates to',
        'Look at the training curves: an adapter has to pass some episodes. Train longer, or repair the environment.',
      );
    const task = round === 0 ? 'gates' : 'gates, with pairs';
    return fitGates(
      this.#engine,
      mixture,
      examples,
      this.#options,
      new Random(seed).fork('compose', 'fit', round),
      signal,
      (step, total, loss) => {
        emit({
          type: 'progress',
          step: 'compose',
          task,
          done: step,
          total,
          unit: 'steps',
          note: `NLL ${loss.toFixed(3)}`,
        });
        emit({ type: 'curve', step: 'compose', task, name: 'nll', x: step, y: loss });
      },
    );
  }

  #assertParameterCount(mixture: MixtureHandle, adapters: number): void {
    const { layers, hiddenSize } = this.#engine.info;
    const slots = adapters + 1;
    const expected = layers * (hiddenSize * slots + slots);
    const actual = this.#gates.parameterCount(mixture);
    if (actual !== expected)
      throw new TraceError(
        `the mixture has ${actual} gate parameters where ${layers} layers × (${hiddenSize} × ${slots} + ${slots}) = ${expected} are right`,
      );
  }

  async #proveFrozen(base: string, before: readonly string[], adapters: readonly AdapterHandle[]) {
    const changed: string[] = [];
    if ((await this.#engine.hash({ kind: 'base' })) !== base) changed.push('the base model');
    for (const [i, hash] of (await this.#hashes(adapters)).entries())
      if (hash !== before[i]) changed.push(`adapter ${this.#capabilities[i]}`);
    if (changed.length > 0)
      throw new TraceError(`fitting the gates changed ${changed.join(' and ')}; nothing was saved`);
  }

  #hashes(adapters: readonly AdapterHandle[]): Promise<string[]> {
    return Promise.all(adapters.map((adapter) => this.#engine.hash(adapter)));
  }

  #warn(text: string): void {
    this.#context.emit({ type: 'message', step: 'compose', level: 'warning', text });
  }
}

interface Played {
  readonly name: string;
  readonly episodes: readonly GateEpisode[];
}

function source(environment: string, player: 'adapter' | 'mixture', episodes: readonly GateEpisode[]) {
  return {
    environment,
    player,
    attempts: episodes.filter((episode) => episode.broken === undefined).length,
    passed: episodes.filter((episode) => episode.passed).length,
  };
}

function pairResult(
  { pair }: { readonly pair: readonly [string, string] },
  { attempts, passed }: { readonly attempts: number; readonly passed: number },
): PairResult {
  return { pair, attempts, passed, rate: attempts === 0 ? 0 : passed / attempts };
}

function readFit(path: string, key: string): FitResult | null {
  if (!existsSync(path)) return null;
  const stored = JSON.parse(readFileSync(path, 'utf8')) as { key: string; fit: FitResult };
  return stored.key === key ? stored.fit : null;
}

/** Capabilities with a finished adapter, sorted by name. */
export function trainedCapabilities(folder: string): string[] {
  const root = join(folder, 'adapters');
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => existsSync(join(root, name, 'adapter_model.safetensors')))
    .sort();
}
