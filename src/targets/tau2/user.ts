import type { AssistantMessage, Message, ToolSchema } from '../../trajectory/trajectory.js';

/** What a simulated user is asked: its own view of the conversation, with the roles turned round. */
export interface UserRequest {
  /** The benchmark's guidelines with the task's scenario. */
  readonly system: string;
  /** The agent speaks as `user`, the user itself as `assistant`; only the user's own tool calls are in it. */
  readonly messages: readonly Message[];
  /** The user's own tools; empty where it has none. */
  readonly tools: readonly ToolSchema[];
  /** Fixes the model's choices where it can be fixed. */
  readonly seed: number;
}

/** Whoever plays the user. A message with tool calls uses the user's tools; one without goes to the agent. */
export interface UserModel {
  readonly name: string;
  /** @throws Error when the answer cannot be had: the attempt is then broken, neither passed nor failed. */
  reply(request: UserRequest): AssistantMessage | Promise<AssistantMessage>;
}

/** What a user writes when it is done, handed over, or asked what it was not told about. */
export const STOP_TOKENS = ['###STOP###', '###TRANSFER###', '###OUT-OF-SCOPE###'] as const;

export const isUserStop = (text: string): boolean => STOP_TOKENS.some((token) => text.includes(token));

/** A user that says given lines (or makes given tool calls) one after the other, then stops. */
export function scriptedUser(lines: readonly (string | AssistantMessage)[]): UserModel {
  return {
    name: 'scripted_user',
    reply({ messages }) {
      const said = messages.filter((message) => message.role === 'assistant').length;
      const line = lines[said] ?? STOP_TOKENS[0];
      return typeof line === 'string' ? { role: 'assistant', content: line } : line;
    },
  };
}

/** Stands where the agent works alone; nobody may ask it anything. */
export const dummyUser: UserModel = {
  name: 'dummy_user',
  reply() {
    throw new Error('solo mode has no user to answer');
  },
};
