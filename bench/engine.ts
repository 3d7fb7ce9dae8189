/**
 * Speed of the local engine: `npm run bench:engine`. With TRACE_BENCH_REFERENCE=FOLDER another engine of the same
 * shape (its train.mjs and decode2.mjs) runs in turn with this one, and the ratios are printed.
 */
import { benchSampling } from './sampling.js';
import { benchTraining } from './training.js';

const reference = process.env.TRACE_BENCH_REFERENCE || undefined;
const only = process.argv[2];
if (only === undefined || only === 'training') await benchTraining(reference);
if (only === undefined || only === 'sampling') await benchSampling(reference);
