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
export type { Judge, JudgeRequest } from './targets/tau2/judge.js';
export { runTau2 } from './targets/tau2/run.js';
export { type Tau2Options, type Tau2Target, tau2 } from './targets/tau2/tau2.js';
export { dummyUser, scriptedUser, type UserModel, type UserRequest } from './targets/tau2/user.js';
export type * from './trajectory/trajectory.js';
