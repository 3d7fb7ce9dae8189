import type { TraceConfig } from '../config/schema.js';
import type { Step } from '../run/pipeline.js';
import type { Workspace } from '../run/workspace.js';
import type { Session } from './session.js';

export interface PipelineInput {
  readonly config: TraceConfig;
  readonly fast: boolean;
  /** What every step depends on (`commonSettings`). */
  readonly common: { readonly [key: string]: unknown };
  readonly session: Session;
  readonly workspace: Workspace;
}

/** The steps of a run in their order. Rooms are loaded when their step begins. */
export function buildSteps(_input: PipelineInput): Step[] {
  return [];
}
