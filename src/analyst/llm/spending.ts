import { TraceError } from '../../run/errors.js';
import type { AnswerTotals } from '../../run/journal.js';
import type { LlmSettings, Price } from './settings.js';

/** Tokens of one request and its answer. */
export interface Usage {
  readonly inputTokens: number;
  /** Part of the input that the provider had in its cache. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

/** The budget is used up; nothing more was sent. */
export class BudgetError extends TraceError {
  override readonly name = 'BudgetError';
}

/** What tokens cost, in US dollars. */
export function costOf({ inputTokens, cachedTokens, outputTokens }: Usage, price: Price): number {
  const cached = price.cachedInput ?? price.input;
  return (
    ((inputTokens - cachedTokens) * price.input + cachedTokens * cached + outputTokens * price.output) / 1e6
  );
}

/**
 * Counts what is spent, and holds the budget: a request goes out only when it fits even at its largest, together
 * with those that are on their way. Where only what is on its way stands in between, it waits for that.
 */
export class Spending {
  readonly #budget: LlmSettings['budget'];
  readonly #price: Price | undefined;
  #spent: Usage & { answers: number };
  #reserved = 0;
  #reservedUsd = 0;
  #waiting: (() => void)[] = [];

  /** @param before what earlier processes of the run spent. */
  constructor(settings: Pick<LlmSettings, 'budget' | 'price'>, before: AnswerTotals) {
    this.#budget = settings.budget;
    this.#price = settings.price;
    this.#spent = { ...before };
  }

  /**
   * Sets tokens aside for a request; the function that is returned gives them back and counts what was used
   * (null: nothing was answered, so nothing is counted).
   * @param most tokens that it takes at most.
   * @throws BudgetError when it does not fit.
   */
  async reserve(most: Usage): Promise<(used: Usage | null) => void> {
    const tokens = most.inputTokens + most.outputTokens;
    const usd = this.#price ? costOf(most, this.#price) : 0;
    while (!this.#fits(tokens, usd)) {
      if (this.#reserved === 0) throw this.#usedUp();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#reserved += tokens;
    this.#reservedUsd += usd;
    return (used) => {
      this.#reserved -= tokens;
      this.#reservedUsd -= usd;
      if (this.#reserved === 0) this.#reservedUsd = 0;
      if (used)
        this.#spent = {
          answers: this.#spent.answers + 1,
          inputTokens: this.#spent.inputTokens + used.inputTokens,
          cachedTokens: this.#spent.cachedTokens + used.cachedTokens,
          outputTokens: this.#spent.outputTokens + used.outputTokens,
        };
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const resume of waiting) resume();
    };
  }

  get spent(): Usage {
    return this.#spent;
  }

  /** Spent so far, in a few words. */
  words(): string {
    const { answers, inputTokens, outputTokens } = this.#spent;
    const money = this.#price ? `, ${dollars(costOf(this.#spent, this.#price))}` : '';
    return `${answers} answers, ${thousands(inputTokens)} tokens in, ${thousands(outputTokens)} out${money}`;
  }

  #fits(tokens: number, usd: number): boolean {
    const { inputTokens, outputTokens } = this.#spent;
    const { tokens: mostTokens, usd: mostUsd } = this.#budget;
    if (mostTokens !== undefined && inputTokens + outputTokens + this.#reserved + tokens > mostTokens)
      return false;
    if (mostUsd === undefined || !this.#price) return true;
    return costOf(this.#spent, this.#price) + this.#reservedUsd + usd <= mostUsd + 1e-9;
  }

  #usedUp(): BudgetError {
    const { tokens, usd } = this.#budget;
    const limits = [
      ...(tokens === undefined ? [] : [`${thousands(tokens)} tokens`]),
      ...(usd === undefined ? [] : [dollars(usd)]),
    ];
    return new BudgetError(
      `the budget of ${limits.join(' and ')} is used up: the next request might not fit (${this.words()})`,
      'All answers are kept: raise the budget (--budget-tokens, --budget-usd, analyst.budget) and run the same command again.',
    );
  }
}

/** `12,340`, and from a million on `1.23 M`. */
export function thousands(value: number): string {
  return value >= 1e6 ? `${(value / 1e6).toFixed(2)} M` : Math.round(value).toLocaleString('en-US');
}

export function dollars(value: number): string {
  return `$${value >= 1 ? value.toFixed(2) : value.toFixed(4)}`;
}
