import type {
  AdamParams,
  AdapterConfig,
  AdapterHandle,
  Datum,
  Engine,
  EngineInfo,
  ForwardBackwardResult,
  Loss,
  PolicyRef,
  SampleRequest,
  SampleResult,
  Trainable,
} from '../../src/engine/contract.js';
import { PairTokenizer } from './pair-tokenizer.js';

/** Answers a prompt with a text; the engine spells it one character at a time and adds the end of turn. */
export type Script = (prompt: string, request: SampleRequest) => string | Promise<string>;

const absent = (name: string) => (): never => {
  throw new Error(`the scripted engine has no ${name}`);
};

/** An engine for tests that plays a script. It cannot train. */
export class ScriptedEngine implements Engine {
  readonly info: EngineInfo;
  readonly tokenizer = new PairTokenizer();
  readonly requests: SampleRequest[] = [];
  readonly released = new Set<string>();

  constructor(
    readonly chatTemplate: string | null,
    readonly script: Script,
    context = 4096,
  ) {
    this.info = { model: 'scripted', context, hiddenSize: 1, layers: 1, vocabulary: 999, parameters: 0 };
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    this.requests.push(request);
    const text = await this.script(this.tokenizer.decode(request.tokens), request);
    const whole = [...this.tokenizer.spell(text), 1];
    const tokens = whole.slice(0, request.maxTokens);
    return {
      tokens,
      // Any fixed function of the token will do: tests check that it arrives where it belongs.
      logprobs: tokens.map((token) => -token / 8),
      stopReason: tokens.length < whole.length ? 'length' : 'stop',
      ...(request.routes && { routes: tokens.map((token) => [token % 3]) }),
    };
  }

  releaseSequence(sequence: string): void {
    this.released.add(sequence);
  }

  logprobs = absent('logprobs') as (
    p: PolicyRef,
    s: readonly (readonly number[])[],
  ) => Promise<Float32Array[]>;
  createAdapter = absent('createAdapter') as (config: AdapterConfig) => Promise<AdapterHandle>;
  forwardBackward = absent('forwardBackward') as (
    model: Trainable,
    data: readonly Datum[],
    loss: Loss,
  ) => Promise<ForwardBackwardResult>;
  optimStep = absent('optimStep') as (m: Trainable, a: AdamParams) => Promise<{ gradientNorm: number }>;
  saveAdapter = absent('saveAdapter') as () => Promise<void>;
  loadAdapter = absent('loadAdapter') as () => Promise<AdapterHandle>;
  saveState = absent('saveState') as () => Promise<void>;
  loadState = absent('loadState') as () => Promise<void>;
  mergeAdapters = absent('mergeAdapters') as () => Promise<AdapterHandle>;
  hash = absent('hash') as () => Promise<string>;
  release = absent('release') as () => Promise<void>;
  async close(): Promise<void> {}
}
