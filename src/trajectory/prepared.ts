import type { Trajectory } from './trajectory.js';

type Body = Omit<Trajectory, 'id' | 'taskId' | 'trial'>;

/**
 * A trajectory that another thread has made and printed: the books need its ids and outcome, the store its bytes. All
 * else is parsed when somebody looks at it.
 */
export class PreparedTrajectory implements Trajectory {
  #body: Body | null = null;

  /**
   * @param reason why it is excluded; null when it is not.
   * @param printed its JSON without the outer opening brace, `id`, `taskId` and `trial`, in UTF-8.
   */
  constructor(
    readonly id: string,
    readonly taskId: string,
    readonly trial: number,
    readonly outcome: Trajectory['outcome'],
    readonly reason: string | null,
    readonly printed: Buffer,
  ) {}

  /** The same under other ids. */
  renamed(id: string, taskId: string): PreparedTrajectory {
    return new PreparedTrajectory(id, taskId, this.trial, this.outcome, this.reason, this.printed);
  }

  /** What comes before `printed` in its line. */
  head(): string {
    return `{"id":${JSON.stringify(this.id)},"taskId":${JSON.stringify(this.taskId)},"trial":${this.trial},`;
  }

  get #parsed(): Body {
    this.#body ??= JSON.parse(`{${this.printed.toString('utf8')}`) as Body;
    return this.#body;
  }

  get source() {
    return this.#parsed.source;
  }
  get messages() {
    return this.#parsed.messages;
  }
  get tools() {
    return this.#parsed.tools;
  }
  get systemPrompt() {
    return this.#parsed.systemPrompt as string;
  }
  get reward() {
    return this.#parsed.reward;
  }
  get termination() {
    return this.#parsed.termination;
  }
  get metadata() {
    return this.#parsed.metadata;
  }

  toJSON(): Trajectory {
    return { id: this.id, taskId: this.taskId, trial: this.trial, ...this.#parsed };
  }
}
