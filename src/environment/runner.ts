import type { AssistantMessage, Message } from '../trajectory/trajectory.js';
import type { Environment, OpenOptions, Scenario, Score } from './contract.js';

/** An attempt that was played from given turns. */
export interface PlayedEpisode {
  readonly messages: readonly Message[];
  readonly score: Score;
  /** Whether the environment ended it; false when the turns ran out first. */
  readonly done: boolean;
  readonly termination: string | null;
  /** Turns that the environment took before it ended. */
  readonly turns: number;
}

/**
 * Plays given assistant turns, no model involved: an oracle, a named mistake or a scripted policy. A function
 * gets the conversation so far and returns the next turn, or null to stop. Turns left over when the episode ends
 * are not played.
 * @throws what the environment throws.
 */
export async function playTurns<S extends Scenario>(
  environment: Environment<S>,
  scenario: S,
  turns: readonly AssistantMessage[] | ((messages: readonly Message[]) => AssistantMessage | null),
  options?: OpenOptions,
): Promise<PlayedEpisode> {
  const episode = await environment.open(scenario, options);
  let played = 0;
  while (!episode.done && played < environment.maxTurns) {
    const turn = typeof turns === 'function' ? turns(episode.messages) : (turns[played] ?? null);
    if (turn === null) break;
    await episode.act(turn);
    played++;
  }
  return {
    messages: [...episode.messages],
    score: await episode.score(),
    done: episode.done,
    termination: episode.termination,
    turns: played,
  };
}
