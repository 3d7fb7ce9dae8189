import type { Engine } from '../engine/contract.js';
import type { Environment, Episode, Scenario, Score, Target } from '../environment/contract.js';
import { deriveSeed } from '../run/random.js';
import type { AssistantMessage, Trajectory } from '../trajectory/trajectory.js';
import { ChatFormat } from './chat-format.js';
import type { Rollout, RolloutOptions, RolloutRequest } from './contract.js';
import { Conversation } from './conversation.js';
import { parseAssistantText } from './tool-calls.js';

const formats = new WeakMap<Engine, ChatFormat>();
/** Names the conversations of a process for the engine's caches; no result depends on it. */
let conversations = 0;

/** The engine's chat template, compiled once. @throws Error when the model has none that works. */
export function chatFormat(engine: Engine): ChatFormat {
  let format = formats.get(engine);
  if (!format) {
    format = new ChatFormat(engine.tokenizer, engine.chatTemplate);
    formats.set(engine, format);
  }
  return format;
}

/**
 * Runs attempts at an environment's tasks with a policy, up to `options.concurrency` at once, so that the engine
 * samples them in batches. Results stand in the order of the requests and depend on `options.seed` and the
 * requests alone, never on timing: every turn has its own seed.
 *
 * A turn that cannot be read, or is longer than `maxTurnTokens`, goes to the environment as `malformed`. An attempt
 * that outgrows the model's context ends as `context` with reward 0. An exception of the environment makes the
 * attempt `broken`, which is neither passed nor failed.
 * @throws what the engine throws, and `options.signal.reason` when aborted; nothing is left running then.
 */
export async function runRollouts<S extends Scenario>(
  engine: Engine,
  environment: Environment<S>,
  requests: readonly RolloutRequest[],
  options: RolloutOptions,
): Promise<Rollout<S>[]> {
  const format = chatFormat(engine);
  const results = new Array<Rollout<S>>(requests.length);
  let next = 0;
  let done = 0;
  let failure: { error: unknown } | null = null;
  const work = async () => {
    while (next < requests.length && !failure) {
      const index = next++;
      try {
        results[index] = await runEpisode(engine, format, environment, requests[index]!, options);
        options.onDone?.(++done, requests.length);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  const workers = Math.max(1, Math.min(options.concurrency, requests.length));
  await Promise.all(Array.from({ length: workers }, work));
  if (failure) throw (failure as { error: unknown }).error;
  return results;
}

const NO_SCORE: Score = { reward: 0, checks: [] };

async function runEpisode<S extends Scenario>(
  engine: Engine,
  format: ChatFormat,
  environment: Environment<S>,
  request: RolloutRequest,
  options: RolloutOptions,
): Promise<Rollout<S>> {
  const scenario = environment.scenario(request.scenario);
  const hint = request.hint === true;
  const conversation = new Conversation(format, {
    tools: environment.tools,
    ...(options.routes && { routes: true }),
    ...(hint && { systemWithoutHint: environment.systemPrompt(scenario, { hint: false }) }),
  });
  const name = `conversation-${conversations++}`;
  let episode: Episode | null = null;
  let turns = 0;
  let calls = 0;
  const finish = (score: Score, termination: string, broken?: string): Rollout<S> => ({
    request,
    scenario,
    messages: [...(episode?.messages ?? [])],
    score,
    termination,
    turns,
    sequences: conversation.sequences(),
    ...(broken !== undefined && { broken }),
  });
  try {
    try {
      episode = await environment.open(scenario, { hint });
    } catch (error) {
      return finish(NO_SCORE, 'broken', reason(error));
    }
    while (!episode.done && turns < environment.maxTurns) {
      options.signal?.throwIfAborted();
      const tokens = conversation.prompt(episode.messages);
      const room = engine.info.context - tokens.length;
      if (room <= 0) return finish(await outOfContext(episode), 'context');
      const result = await engine.sample({
        policy: options.policy,
        tokens: tokens.slice(),
        maxTokens: Math.min(options.maxTurnTokens, room),
        temperature: options.temperature,
        seed: deriveSeed(options.seed, request.scenario, request.trial, turns),
        stop: format.stop,
        sequence: `${name}/${conversation.sequenceCount}`,
        ...(options.routes && { routes: true }),
      });
      const stopped = result.stopReason === 'stop';
      const message = stopped
        ? parseAssistantText(format.decodeTurn(result.tokens), calls)
        : tooLong(format.decodeTurn(result.tokens), options.maxTurnTokens);
      conversation.append(result, message);
      turns++;
      calls += message.tool_calls?.length ?? 0;
      // The prompt's array has grown by the turn: a turn that filled the context was cut off by it.
      if (!stopped && tokens.length >= engine.info.context)
        return finish(await outOfContext(episode), 'context');
      try {
        await episode.act(message);
      } catch (error) {
        return finish(NO_SCORE, 'broken', reason(error));
      }
    }
    try {
      return finish(await episode.score(), episode.termination ?? 'max_turns');
    } catch (error) {
      return finish(NO_SCORE, 'broken', reason(error));
    }
  } finally {
    for (let i = 1; i <= conversation.sequenceCount; i++) engine.releaseSequence(`${name}/${i}`);
  }
}

/** An attempt cut off by the model's context: what it reached is kept as checks, but it earns nothing. */
async function outOfContext(episode: Episode): Promise<Score> {
  const check = { name: 'within_context', passed: false, detail: 'the conversation outgrew the context' };
  const { checks } = await episode.score();
  return { reward: 0, checks: [...checks, check] };
}

const tooLong = (text: string, limit: number): AssistantMessage => ({
  role: 'assistant',
  content: text,
  malformed: `the turn did not end within ${limit} tokens`,
});

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** A reward of at least this is a pass, where the environment says nothing else. */
export const SUCCESS_THRESHOLD = 1;

/** Whether an attempt passed; false for a broken one. */
export function passed(rollout: Rollout, threshold = SUCCESS_THRESHOLD): boolean {
  return rollout.broken === undefined && rollout.score.reward >= threshold;
}

/**
 * A rollout as the canonical trajectory: with reference (where the environment has one), checks and tools. A
 * broken attempt is `excluded`, without a reward.
 */
export function toTrajectory<S extends Scenario>(
  rollout: Rollout<S>,
  environment: Environment<S> | Target<S>,
  metadata: { readonly [key: string]: unknown } = {},
): Trajectory {
  const { request, scenario, messages, score, termination, turns, sequences, broken } = rollout;
  const threshold = 'successThreshold' in environment ? environment.successThreshold : SUCCESS_THRESHOLD;
  const system = messages[0]?.role === 'system' ? messages[0].content : undefined;
  return {
    id: `${scenario.id}/${request.trial}`,
    taskId: scenario.id,
    trial: request.trial,
    source: 'rollout',
    messages,
    tools: environment.tools,
    ...(system !== undefined && { systemPrompt: system }),
    reward: broken === undefined ? score.reward : null,
    outcome: broken !== undefined ? 'excluded' : passed(rollout, threshold) ? 'passed' : 'failed',
    termination,
    checks: score.checks,
    ...(environment.reference && { reference: environment.reference(scenario) }),
    metadata: {
      environment: environment.name,
      seed: request.scenario,
      turns,
      sampledTokens: sequences.reduce((n, s) => n + s.sampled.filter(Boolean).length, 0),
      ...(request.hint && { hint: true }),
      ...(broken !== undefined && { broken }),
      ...metadata,
    },
  };
}
