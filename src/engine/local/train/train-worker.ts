import { workerData } from 'node:worker_threads';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { type Answer, serve } from '../thread/serve.js';
import { adamwUpdate, NORM_CHUNK, sumOfSquares } from './adamw.js';
import type { Batch } from './batches.js';
import { views } from './flat.js';
import type { LossName } from './losses.js';
import type {
  Registration,
  RunReply,
  RunRequest,
  SharedTensors,
  SumReply,
  SumRequest,
  ThreadData,
  UpdateRequest,
} from './messages.js';
import { type TrainingMode, trainingGraph } from './training-graph.js';

/**
 * A training thread: runs its share of the batches on one core and adds up its own gradients; then updates its
 * share of the parameters. ONNX Runtime takes no shared memory, so weights are copied in once a step.
 */
const { config, base, index } = workerData as ThreadData;
const baseParameters = views(base.data, base.segments);

/** Sessions kept at once; each holds the buffers of its largest batch. */
const MAX_SESSIONS = 4;
const sessions = new Map<string, InferenceSession>();

interface Entry {
  readonly registration: Registration;
  /** Weights as feeds: copies of the shared ones as of `version`. */
  readonly feeds: Record<string, Tensor>;
  version: number;
}
const entries = new Map<number, Entry>();

function entryOf(id: number): Entry {
  const entry = entries.get(id);
  if (!entry) throw new Error(`the training thread does not know model ${id}`);
  return entry;
}

async function sessionFor(mode: TrainingMode, loss: LossName | null): Promise<InferenceSession> {
  const key = JSON.stringify([mode, loss]);
  let session = sessions.get(key);
  if (session) sessions.delete(key);
  else {
    while (sessions.size >= MAX_SESSIONS) {
      const [oldest, unused] = sessions.entries().next().value as [string, InferenceSession];
      sessions.delete(oldest);
      await unused.release();
    }
    const { model } = trainingGraph(config, baseParameters, mode, loss);
    session = await InferenceSession.create(model, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      // Shapes differ from batch to batch: a memory plan for each would only pile up.
      enableMemPattern: false,
      // Gradients are formed the way round that is fast and transposed after; folding undoes the choice.
      extra: { optimization: { disable_specified_optimizers: 'GemmTransposeFusion' } },
      logSeverityLevel: 3,
    });
  }
  sessions.set(key, session);
  return session;
}

function copyIn(feeds: Record<string, Tensor>, { data, segments }: SharedTensors): void {
  for (const { name, shape, offset, size } of segments) {
    const values = data.subarray(offset, offset + size);
    const known = feeds[name];
    if (known) (known.data as Float32Array).set(values);
    else feeds[name] = new Tensor('float32', Float32Array.from(values), shape as number[]);
  }
}

function batchFeeds(batch: Batch, { loss, clip }: RunRequest): Record<string, Tensor> {
  const selected = [batch.positions.length];
  const floats = (data: Float32Array, shape: readonly number[]) => new Tensor('float32', data, shape);
  return {
    tokens: new Tensor('int64', batch.tokens, [batch.rows, batch.length]),
    positions: new Tensor('int64', batch.positions, selected),
    targets: new Tensor('int64', batch.targets, selected),
    ...(loss === null ? {} : { weights: floats(batch.weights, selected) }),
    ...(loss === 'ppo' || loss === 'importance_sampling'
      ? { advantages: floats(batch.advantages, selected), old: floats(batch.old, selected) }
      : {}),
    ...(loss === 'ppo'
      ? { clip_low: floats(Float32Array.of(clip[0]), []), clip_high: floats(Float32Array.of(clip[1]), []) }
      : {}),
  };
}

async function run(request: RunRequest): Promise<Answer> {
  const entry = entryOf(request.id);
  const { registration, feeds } = entry;
  if (entry.version !== request.version) {
    copyIn(feeds, registration.parameters);
    entry.version = request.version;
  }
  const session = await sessionFor(registration.mode, request.loss);
  const sum = request.loss === null ? null : registration.training?.gradients[index];
  if (sum === undefined) throw new Error(`model ${request.id} is not trainable`);
  let fresh = request.reset;
  const losses: number[] = [];
  const logprobs: Float32Array[] = [];
  for (const batch of request.batches) {
    const result = await session.run({ ...feeds, ...batchFeeds(batch, request) });
    logprobs.push(result.logprobs!.data as Float32Array);
    if (sum === null) continue;
    losses.push((result.loss!.data as Float32Array)[0] as number);
    for (const { name, offset, size } of registration.parameters.segments) {
      const gradient = result[`gradient/${name}`]!.data as Float32Array;
      if (fresh) sum.set(gradient, offset);
      else for (let i = 0; i < size; i++) sum[offset + i]! += gradient[i]!;
    }
    fresh = false;
  }
  const result: RunReply = { losses, logprobs };
  return { result };
}

/** Adds the threads' gradients into the first one's array, over [begin, end), in the threads' order. */
function sumGradients({ id, threads, begin, end }: SumRequest): Answer {
  const { gradients } = entryOf(id).registration.training!;
  const target = gradients[0]!;
  if (!threads.includes(0)) target.fill(0, begin, end);
  const others = threads.filter((thread) => thread !== 0).map((thread) => gradients[thread]!);
  const sums: number[] = [];
  for (let from = begin; from < end; from += NORM_CHUNK) {
    const to = Math.min(end, from + NORM_CHUNK);
    for (const other of others) for (let i = from; i < to; i++) target[i]! += other[i]!;
    sums.push(sumOfSquares(target, from, to));
  }
  const result: SumReply = sums;
  return { result };
}

function update({ id, begin, end, settings, step, factor }: UpdateRequest): Answer {
  const { registration } = entryOf(id);
  const { first, second, gradients } = registration.training!;
  const arrays = { parameters: registration.parameters.data, gradient: gradients[0]!, first, second };
  for (const { shape, offset, size } of registration.parameters.segments) {
    const from = Math.max(begin, offset);
    const to = Math.min(end, offset + size);
    // Norm weights and biases are not decayed.
    const decay = shape.length > 1 ? settings.weightDecay : 0;
    if (from < to) adamwUpdate(arrays, from, to, settings, step, factor, decay);
  }
  return { result: null };
}

serve({
  register(registration: Registration) {
    const feeds: Record<string, Tensor> = {};
    if (registration.frozen) copyIn(feeds, registration.frozen);
    entries.set(registration.id, { registration, feeds, version: -1 });
    return { result: null };
  },
  release(id: number) {
    entries.delete(id);
    return { result: null };
  },
  run,
  sumGradients,
  update,
});
