import type { ModelConfig } from '../model/config.js';
import type { Parameters } from '../model/parameters.js';
import type { Completion, Job } from './job.js';
import type { PolicyWeights } from './policy.js';

/** What a sampling worker is started with. */
export interface WorkerStart {
  readonly config: ModelConfig;
  /** Base parameters; their buffers are shared between the workers. */
  readonly parameters: Parameters;
  readonly rows: number;
  readonly context: number;
}

/** Main thread → worker; sent in lists, handled in order between two steps. */
export type ToWorker =
  | { readonly type: 'job'; readonly job: Job }
  | { readonly type: 'policy'; readonly key: string; readonly weights: PolicyWeights }
  | { readonly type: 'drop'; readonly key: string }
  | { readonly type: 'release'; readonly sequence: string }
  | { readonly type: 'close' };

/** Worker → main thread. */
export type FromWorker =
  | { readonly type: 'done'; readonly completions: readonly Completion[] }
  | { readonly type: 'failed'; readonly ids: readonly number[]; readonly message: string }
  | { readonly type: 'closed' };
