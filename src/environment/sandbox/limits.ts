/** What a generated environment may use up. */
export interface SandboxLimits {
  /** Most memory of its heap, in MiB; buffers outside the heap have as much again. */
  readonly memoryMiB: number;
  /** Longest time without an answer while one is due, in milliseconds. */
  readonly answerMs: number;
  /** Longest time that starting the process and loading the module may take, in milliseconds. */
  readonly loadMs: number;
  /** Longest answer to one request, in characters. */
  readonly answerCharacters: number;
}

export const SANDBOX_LIMITS: SandboxLimits = {
  memoryMiB: 256,
  answerMs: 10_000,
  loadMs: 60_000,
  answerCharacters: 2_000_000,
};

/** Which wall stands around generated code. */
export type SandboxKind = 'bubblewrap' | 'quickjs';
