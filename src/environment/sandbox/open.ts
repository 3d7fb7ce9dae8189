import type { AssistantMessage, Message } from '../../trajectory/trajectory.js';
import type { CapabilityEnvironment, Episode, OpenOptions, Scenario, Score } from '../contract.js';
import { type GeneratedSettings, readGenerated } from '../load-generated.js';
import { chooseSandbox, launchOf } from './choose.js';
import { SandboxConnection } from './connection.js';
import { SandboxError } from './errors.js';
import { SANDBOX_LIMITS, type SandboxKind, type SandboxLimits } from './limits.js';
import { generatedScript, guestText } from './program-text.js';
import type { Answer } from './protocol.js';

export interface SandboxOptions {
  /** Absent: bubblewrap where it works, QuickJS elsewhere. */
  readonly kind?: SandboxKind;
  readonly limits?: Partial<SandboxLimits>;
}

/** A capability environment whose code runs in a process of its own. */
export interface SandboxedEnvironment extends CapabilityEnvironment {
  readonly sandbox: SandboxKind;
  /** Ends its process; attempts that are open are lost. */
  close(): Promise<void>;
}

/** Scenarios that are fetched ahead where seeds are asked for one after the other. */
const AHEAD = 32;

/**
 * Opens `environment.ts` (with `settings.json`) of a folder in a sandbox.
 * @throws Error naming the file and what is wrong with it.
 */
export async function openSandboxed(
  folder: string,
  options: SandboxOptions = {},
): Promise<SandboxedEnvironment> {
  const { source, settings, file } = readGenerated(folder);
  return openSandboxedSource(source, settings, options, file);
}

/** `openSandboxed` from text. */
export async function openSandboxedSource(
  source: string,
  settings: GeneratedSettings,
  options: SandboxOptions = {},
  file = 'environment.ts',
): Promise<SandboxedEnvironment> {
  const script = generatedScript(source, file);
  const kind = options.kind ?? (await chooseSandbox());
  const limits: SandboxLimits = { ...SANDBOX_LIMITS, ...options.limits };
  const connection = new SandboxConnection(launchOf(kind, limits), limits);
  try {
    const ready = await connection.start('ready', { guest: guestText(), script, settings, ...limits });
    const missing = ['systemPrompt', 'scenario', 'open', 'oracle', 'mistakes'].filter(
      (name) => !ready.functions.includes(name),
    );
    if (missing.length > 0) throw new Error(`${missing.join(', ')} missing`);
    return new Sandboxed(connection, kind, ready);
  } catch (error) {
    await connection.close();
    if (error instanceof SandboxError) throw error;
    throw new Error(`${file} cannot be loaded: ${(error as Error).message}`);
  }
}

class Sandboxed implements SandboxedEnvironment {
  readonly name: string;
  readonly capability: string;
  readonly rationale: string;
  readonly tools: CapabilityEnvironment['tools'];
  readonly toolKinds: CapabilityEnvironment['toolKinds'];
  readonly maxTurns: number;
  /** Absent where the environment has none. */
  readonly reference?: CapabilityEnvironment['reference'];
  /** Scenarios that were made there are named by their seed. */
  readonly #seeds = new WeakMap<Scenario, number>();
  readonly #ahead = new Map<number, Scenario | Error>();
  #last = Number.NaN;
  #episodes = 0;

  constructor(
    readonly connection: SandboxConnection,
    readonly sandbox: SandboxKind,
    ready: Answer<'ready'>,
  ) {
    ({
      name: this.name,
      capability: this.capability,
      rationale: this.rationale,
      tools: this.tools,
      toolKinds: this.toolKinds,
      maxTurns: this.maxTurns,
    } = ready);
    if (ready.functions.includes('reference'))
      this.reference = (scenario) => this.#now('reference', this.#named(scenario));
  }

  scenario(seed: number): Scenario {
    const ahead = this.#ahead.get(seed);
    const inOrder = seed === this.#last + 1;
    this.#last = seed;
    let found = ahead;
    if (ahead) this.#ahead.delete(seed);
    else {
      this.#ahead.clear();
      const seeds = Array.from({ length: inOrder ? AHEAD : 1 }, (_, i) => seed + i);
      const answers = this.connection.askNow(
        'scenario',
        seeds.map((one) => ({ seed: one })),
      );
      for (const [i, answer] of answers.entries()) {
        const asked = seeds[i]!;
        const other = !(answer instanceof Error) && answer.seed !== asked;
        this.#ahead.set(
          asked,
          other ? new Error(`scenario ${asked} says that its seed is ${answer.seed}`) : answer,
        );
      }
      found = this.#ahead.get(seed);
      this.#ahead.delete(seed);
    }
    if (found instanceof Error) throw found;
    this.#seeds.set(found!, seed);
    return found!;
  }

  systemPrompt(scenario: Scenario, options?: OpenOptions): string {
    return this.#now('systemPrompt', { ...this.#named(scenario), ...options });
  }

  oracle(scenario: Scenario) {
    return this.#now('oracle', this.#named(scenario));
  }

  mistakes(scenario: Scenario) {
    return this.#now('mistakes', this.#named(scenario));
  }

  async open(scenario: Scenario, options?: OpenOptions): Promise<Episode> {
    const episode = ++this.#episodes;
    const state = await this.connection.ask('open', { episode, ...this.#named(scenario), ...options });
    return new SandboxedEpisode(this.connection, episode, state);
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  #named(scenario: Scenario): { seed: number } | { scenario: Scenario } {
    const seed = this.#seeds.get(scenario);
    return seed === undefined ? { scenario } : { seed };
  }

  #now<O extends 'systemPrompt' | 'oracle' | 'mistakes' | 'reference'>(op: O, request: object): Answer<O> {
    const [answer] = this.connection.askNow(op, [request]);
    if (answer instanceof Error) throw answer;
    return answer!;
  }
}

/** Attempts that nobody holds any more are closed in the sandbox too. */
const forgotten = new FinalizationRegistry<{ connection: WeakRef<SandboxConnection>; episode: number }>(
  ({ connection, episode }) => {
    connection
      .deref()
      ?.ask('close', { episode })
      .catch(() => {});
  },
);

class SandboxedEpisode implements Episode {
  readonly messages: Message[];
  done: boolean;
  termination: string | null;
  #score: Score | null = null;

  constructor(
    readonly connection: SandboxConnection,
    readonly episode: number,
    state: Answer<'open'>,
  ) {
    this.messages = [...state.messages];
    this.done = state.done;
    this.termination = state.termination;
    forgotten.register(this, { connection: new WeakRef(connection), episode }, this);
  }

  async act(message: AssistantMessage): Promise<void> {
    if (this.done) throw new Error('the episode is done');
    const state = await this.connection.ask('act', { episode: this.episode, message });
    if (state.same) this.messages.push(message);
    for (const one of state.messages) this.messages.push(one);
    this.done = state.done;
    this.termination = state.termination;
    if (!state.score) return;
    this.#score = state.score;
    forgotten.unregister(this);
  }

  async score(): Promise<Score> {
    return this.#score ?? (await this.connection.ask('score', { episode: this.episode }));
  }
}
