import type { TraceConfig } from '../config/schema.js';

/** What the steps of one process share: the engine and the target, opened when a step first needs them. */
export class Session {
  readonly config: TraceConfig;
  readonly project: string;
  readonly modelFolder: string;

  constructor(config: TraceConfig, project: string, modelFolder: string) {
    this.config = config;
    this.project = project;
    this.modelFolder = modelFolder;
  }

  async close(): Promise<void> {}
}
