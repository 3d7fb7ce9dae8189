import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { digestJson } from '../../run/digest.js';
import { InputError, TraceError } from '../../run/errors.js';
import { writeFileWhole } from '../../run/files.js';
import { readAnswer } from '../prompted/answer.js';
import type { Asker, Reply, Task } from '../prompted/task.js';
import type { RenderedPrompt } from '../prompts/render.js';
import { readmeText, requestText } from './texts.js';

/** Requests were written and wait for somebody to answer them. */
export class WaitingError extends TraceError {
  override readonly name = 'WaitingError';

  constructor(
    readonly folder: string,
    readonly open: number,
    readonly answered: number,
    resume: string,
  ) {
    super(
      `${open} of ${open + answered} requests wait for an answer in ${folder}`,
      `Answer them as its README.md says (a coding agent can), then go on: ${resume}`,
    );
  }
}

export interface HandoffOptions {
  /** Absolute; `README.md`, `requests/` and `answers/` are kept there. */
  readonly folder: string;
  /** The command that goes on, for people. */
  readonly resume: string;
}

const ENDINGS = ['.json', '.md', '.txt'] as const;
const MOST_NAMED = 20;

/**
 * Puts questions to a person or a coding agent: each is a markdown file, its answer a JSON file of the same name. An
 * answer is checked as a language model's would be; nothing is guessed where one is missing or wrong.
 */
export class HandoffAsker implements Asker {
  readonly name = 'handoff';
  readonly concurrency = 1;
  readonly #options: HandoffOptions;
  /** Requests of this process by name: without an answer, well answered, with a wrong answer. */
  readonly #open = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #wrong = new Map<string, { readonly file: string; readonly problems: readonly string[] }>();

  constructor(options: HandoffOptions) {
    this.#options = options;
  }

  ask<T>(task: Task<T>): Promise<Reply<T>> {
    const prompt = task.prompt(0);
    // The hash tells the requests of another discovery apart: their answers are not taken for these.
    const name = `${task.id}-${digestJson([prompt.system, prompt.user, task.salt]).slice(0, 8)}`;
    const file = ENDINGS.map((ending) => join(this.#options.folder, 'answers', `${name}${ending}`)).find(
      existsSync,
    );
    if (file === undefined) {
      this.#write(name, prompt);
      this.#open.add(name);
      return Promise.resolve({ value: null, problems: ['the answer is awaited'] });
    }
    const read = readAnswer(readFileSync(file, 'utf8'));
    const { value, problems } =
      'value' in read ? task.check(read.value) : { value: null, problems: [read.problem] };
    if (problems.length > 0) {
      this.#write(name, prompt);
      this.#wrong.set(name, { file, problems });
      return Promise.resolve({ value: null, problems });
    }
    this.#answered.add(name);
    return Promise.resolve({ value, problems: [] });
  }

  /**
   * To be called when nothing more can be asked before what was asked is answered. Writes the README.
   * @throws InputError naming every answer that is wrong; WaitingError when answers are awaited.
   */
  settle(): void {
    if (this.#open.size === 0 && this.#wrong.size === 0) return;
    const { folder, resume } = this.#options;
    this.#prune();
    const wrong = [...this.#wrong.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
    writeFileWhole(
      join(folder, 'README.md'),
      readmeText({
        open: [...this.#open].sort(),
        wrong,
        answered: this.#answered.size,
        resume,
      }),
    );
    if (this.#wrong.size === 0) throw new WaitingError(folder, this.#open.size, this.#answered.size, resume);
    const lines = wrong
      .slice(0, MOST_NAMED)
      .flatMap(({ file, problems }) => problems.map((problem) => `${file}: ${problem}`));
    const more = wrong.length > MOST_NAMED ? [`and ${wrong.length - MOST_NAMED} more files`] : [];
    const waiting = this.#open.size > 0 ? ` ${this.#open.size} requests have no answer yet.` : '';
    throw new InputError(
      [...lines, ...more].join('\n'),
      `Mend these answers, then go on: ${resume}.${waiting}`,
    );
  }

  #write(name: string, prompt: RenderedPrompt): void {
    const file = join(this.#options.folder, 'requests', `${name}.md`);
    const text = requestText(name, prompt);
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileWhole(file, text);
  }

  /** Removes requests that nobody asks any more: those of an earlier discovery. Answers stay. */
  #prune(): void {
    const folder = join(this.#options.folder, 'requests');
    if (!existsSync(folder)) return;
    for (const file of readdirSync(folder)) {
      const name = file.slice(0, -'.md'.length);
      const isAsked = this.#open.has(name) || this.#answered.has(name) || this.#wrong.has(name);
      if (file.endsWith('.md') && !isAsked) rmSync(join(folder, file));
    }
  }
}
