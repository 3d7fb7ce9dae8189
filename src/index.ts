/**
 * The library: what a project's own configuration and environment are written with. The steps themselves are run
 * by the command `trace`.
 */

export type * from './agent/contract.js';
export type * from './analyst/contract.js';
export { defineConfig, type TraceConfig, type TraceConfigInput } from './config/schema.js';
export type * from './engine/contract.js';
export type * from './environment/contract.js';
export { InputError, TraceError } from './run/errors.js';
export type { EventSink, RunEvent, StepName } from './run/events.js';
export { Random } from './run/random.js';
export type * from './trajectory/trajectory.js';
