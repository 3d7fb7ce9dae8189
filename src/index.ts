export type * from './trajectory/trajectory.js';
