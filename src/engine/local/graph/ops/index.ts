export { softmax, swiglu } from './activation.js';
export { causalAttention, rotary, rotaryAngles } from './attention.js';
export { add, exp, multiply, negate, scale, subtract, sumAll, unbroadcast } from './elementwise.js';
export { gatherRows } from './gather.js';
export { concat, reshape, split, transpose } from './layout.js';
export { adaptedMatmul, type MatmulOptions, matmul } from './matmul.js';
export { rmsNorm } from './norm.js';
export { logProbability } from './probability.js';
export { straightThroughTop1, top1 } from './routing.js';
