import type { Family } from '../prompts/library.js';

/** How attempts are read and capabilities proposed, whoever answers. */
export interface ReadingSettings {
  /** Folder of prompts; absent: told by the attempts. */
  readonly family?: Family;
  /** Most candidate capabilities. */
  readonly candidates: number;
  /** Most tokens, estimated, in which an attempt is shown to a rater. */
  readonly trajectoryTokens: number;
  /** Most attempts that discovery reads, and most tokens of them in one request. */
  readonly discoverAttempts: number;
  readonly batchTokens: number;
  /** Show the target's reference solution, where there is one. */
  readonly showReference: boolean;
}

export const READING_DEFAULTS: ReadingSettings = {
  candidates: 10,
  trajectoryTokens: 10_000,
  discoverAttempts: 60,
  batchTokens: 24_000,
  showReference: false,
};
