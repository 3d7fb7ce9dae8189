import type { Episode, Score } from '../../environment/contract.js';
import type {
  AssistantMessage,
  Check,
  Message,
  SystemMessage,
  ToolSchema,
} from '../../trajectory/trajectory.js';
import { answerMessage, callsFrom, seenBy, turnMessage } from './conversation.js';
import type { Domain } from './data.js';
import { type Evaluation, evaluate, type NaturalVerdict } from './evaluate.js';
import { type Judge, judgedText } from './judge.js';
import { callsOf, recordedCalls, textOf } from './messages.js';
import type { Dict } from './python/value.js';
import type { Requestor, Task } from './task.js';
import { isUserStop, type UserModel } from './user.js';
import type { World } from './world.js';

export const GREETING = 'Hi! How can I help you today?';
/** The tool by which an agent alone says that it is done, and what its call turns into. */
export const DONE_TOOL = 'done';
const STOP = '###STOP###';

export type Termination =
  | 'agent_stop'
  | 'user_stop'
  | 'max_steps'
  | 'too_many_errors'
  | 'agent_error'
  | 'user_error';

export interface EpisodeSettings {
  readonly domain: Domain;
  readonly task: Task;
  readonly solo: boolean;
  readonly maxSteps: number;
  readonly maxErrors: number;
  readonly seed: number;
  readonly user: UserModel;
  readonly userSystem: string;
  readonly userTools: readonly ToolSchema[];
  readonly judge: Judge | null;
  readonly systemPrompt: string;
}

/**
 * One attempt at a task of the benchmark: its orchestrator, turn by turn. A step is one message of either side or
 * one round of tool calls; limits are looked at after every step that does not lead to tools.
 */
export class Tau2Episode implements Episode {
  /** The conversation in the benchmark's form, both sides' tool calls in it. */
  readonly log: Dict[] = [];
  steps = 0;
  errors = 0;
  termination: Termination | null = null;
  readonly settings: EpisodeSettings;
  readonly #world: World;
  readonly #system: SystemMessage;
  #next: 'agent' | 'user' = 'agent';
  #evaluation: Promise<Evaluation> | null = null;

  private constructor(settings: EpisodeSettings) {
    this.settings = settings;
    this.#system = { role: 'system', content: settings.systemPrompt };
    this.#world = settings.domain.open(settings.solo);
  }

  /**
   * Opens the attempt up to the agent's first turn.
   * @throws what the user's model throws.
   */
  static async open(settings: EpisodeSettings): Promise<Tau2Episode> {
    const episode = new Tau2Episode(settings);
    await episode.#begin();
    return episode;
  }

  get done(): boolean {
    return this.termination !== null;
  }

  get messages(): readonly Message[] {
    const seen = this.log.flatMap((message) => seenBy('assistant', message) ?? []);
    return [this.#system, ...seen];
  }

  async #begin(): Promise<void> {
    const { task, solo } = this.settings;
    const history = task.initial?.history ?? [];
    const last = history.at(-1);
    // Calls at the end of a history are still to be answered.
    const open = last !== undefined && callsOf(last).length > 0;
    this.#world.setState(task.initial, recordedCalls(open ? history.slice(0, -1) : history), true);
    this.log.push(...history);
    if (!last) {
      if (solo) return;
      this.log.push(
        new Map<string, unknown>([
          ['role', 'assistant'],
          ['content', GREETING],
        ]),
      );
      this.#next = 'user';
    } else {
      const side = sideOf(last);
      const answered = last.get('role') === 'tool' || open;
      this.#next = (side === 'assistant') === answered ? 'agent' : 'user';
      if (open) this.#runTools(side, last);
      else if (side === 'user' && last.get('role') === 'user' && isUserStop(textOf(last)))
        this.termination = 'user_stop';
    }
    await this.#letUserSpeak();
  }

  async act(message: AssistantMessage): Promise<void> {
    if (this.done) throw new Error(`the episode is over (${this.termination}): open a new one`);
    const { solo } = this.settings;
    const calls = message.tool_calls ?? [];
    const stops = solo && calls.some((call) => call.function.name === DONE_TOOL);
    const turn: AssistantMessage = stops ? { role: 'assistant', content: STOP } : message;
    // Alone, the agent's first turn belongs to the opening and is no step.
    if (solo && this.log.length === 0) this.steps--;
    this.log.push(turnMessage('assistant', turn));
    const empty = calls.length === 0 && (message.content ?? '').trim() === '';
    if (message.malformed !== undefined || (empty && !stops)) {
      this.termination = 'agent_error';
      return;
    }
    if (stops) this.termination = 'agent_stop';
    else if (calls.length > 0) {
      this.steps++;
      this.#runTools('assistant', this.log.at(-1) as Dict);
      return;
    } else if (solo) this.termination = 'agent_error';
    this.#next = 'user';
    this.#countStep();
    await this.#letUserSpeak();
  }

  /** The user's turns, its tool calls among them, until it is the agent's. */
  async #letUserSpeak(): Promise<void> {
    const { user, userSystem, userTools, seed } = this.settings;
    while (!this.done && this.#next === 'user') {
      const messages = this.log.flatMap((message) => seenBy('user', message) ?? []);
      const reply = await user.reply({ system: userSystem, messages, tools: userTools, seed });
      this.log.push(turnMessage('user', reply));
      const message = this.log.at(-1) as Dict;
      if (callsOf(message).length > 0) {
        this.steps++;
        this.#runTools('user', message);
        continue;
      }
      if (textOf(message).trim() === '') this.termination = 'user_error';
      else if (isUserStop(textOf(message))) this.termination = 'user_stop';
      this.#next = 'agent';
      this.#countStep();
    }
  }

  /** Answers every call of a message, in order, to the side that made them. */
  #runTools(side: Requestor, message: Dict): void {
    for (const call of callsFrom(message, side)) {
      const { content, error } = this.#world.respond(call.name, side, call.arguments);
      this.log.push(answerMessage(call, content, error));
      if (error) this.errors++;
    }
    this.#next = side === 'assistant' ? 'agent' : 'user';
    this.#countStep();
  }

  #countStep(): void {
    this.steps++;
    this.#world.sync();
    // As in the benchmark, a limit that is reached overrides how the conversation ended.
    if (this.steps >= this.settings.maxSteps) this.termination = 'max_steps';
    if (this.errors >= this.settings.maxErrors) this.termination = 'too_many_errors';
  }

  /** The verdict on the attempt as it ended, or as if it had run out of steps. */
  evaluation(): Promise<Evaluation> {
    if (!this.done) return this.#evaluate();
    this.#evaluation ??= this.#evaluate();
    return this.#evaluation;
  }

  async #evaluate(): Promise<Evaluation> {
    const { domain, task, solo, judge } = this.settings;
    const assertions = task.criteria?.natural ?? [];
    const ended = this.termination === 'agent_stop' || this.termination === 'user_stop';
    let natural: readonly NaturalVerdict[] | null = null;
    if (judge && ended && assertions.length > 0 && task.criteria?.basis.includes('NL_ASSERTION'))
      natural = await judge.judge({ conversation: judgedText(this.log), assertions });
    return evaluate(domain, task, this.log, this.termination, { solo, natural });
  }

  async score(): Promise<Score> {
    const found = await this.evaluation();
    const checks: Check[] = [...found.parts].map(([name, part]) => ({
      name,
      passed: part === 1,
      ...detailOf(found, name),
    }));
    if (found.note !== null)
      checks.push({ name: 'finished', passed: found.reward === 1, detail: found.note });
    if (found.notScored.length > 0)
      checks.push({
        name: 'scored parts',
        passed: true,
        detail: `${[...found.parts.keys()].join(', ') || 'none'}; not scored, as there is no judge: ${found.notScored.join(', ')}`,
      });
    return { reward: found.reward, checks };
  }
}

const sideOf = (message: Dict): Requestor =>
  (message.get('role') === 'tool' ? (message.get('requestor') ?? 'assistant') : message.get('role')) ===
  'user'
    ? 'user'
    : 'assistant';

/** What a failed part is about, in words. */
function detailOf(found: Evaluation, part: string): { readonly detail?: string } {
  const missing = {
    DB: found.dbMatch ? [] : ['the databases end otherwise than after the golden actions'],
    ENV_ASSERTION: found.assertions.filter(({ met }) => !met).map(({ assertion }) => assertion.name),
    ACTION: found.actions.filter(({ match }) => !match).map(({ action }) => action.name),
    COMMUNICATE: found.communicate.filter(({ met }) => !met).map(({ info }) => info),
    NL_ASSERTION: (found.natural ?? []).filter(({ met }) => !met).map(({ assertion }) => assertion),
  }[part];
  return missing && missing.length > 0 ? { detail: missing.join('; ') } : {};
}
