import type { NaturalVerdict } from './evaluate.js';
import { textOf } from './messages.js';
import type { Dict } from './python/value.js';

/** What a judge of natural-language assertions is asked. */
export interface JudgeRequest {
  /** The whole conversation, a line a message: role and text. */
  readonly conversation: string;
  readonly assertions: readonly string[];
}

/** Whoever judges natural-language assertions; one verdict an assertion. */
export interface Judge {
  readonly name: string;
  /** @throws Error when the verdicts cannot be had: the attempt is then broken, neither passed nor failed. */
  judge(request: JudgeRequest): Promise<readonly NaturalVerdict[]>;
}

/** The conversation as the benchmark shows it to its judge. */
export const judgedText = (messages: readonly Dict[]): string =>
  messages
    .map((message) => {
      const content = message.get('content') ?? null;
      return `${String(message.get('role'))}: ${content === null ? 'None' : textOf(message)}`;
    })
    .join('\n');
