import { createHash } from 'node:crypto';
import type { FakeRequest } from './server.js';

/** What a good model would say, made up from the content of the request alone. */
export function answerTo(request: FakeRequest): object {
  if (request.system.includes('"left_out"')) return merge(request.user);
  if (request.system.includes('"elsewhere"')) return discovery(request.user);
  return labels(request.user);
}

const number = (...parts: readonly string[]): number =>
  createHash('sha256').update(parts.join('\0')).digest().readUInt32BE(0);

const PROPOSALS = [
  {
    name: 'precondition_verification',
    definition:
      'Before a change that rules allow only under conditions, the agent reads what it needs to know whether they hold. It is lacking when such a change is made unchecked.',
  },
  {
    name: 'verifying_preconditions',
    definition:
      'The agent looks up the conditions of a change first and leaves the change out where they do not hold. It is lacking when it changes something against what the records say.',
  },
  {
    name: 'structured_data_reasoning',
    definition:
      'When several entries stand in a result, the agent picks the one that was asked for by its values. It is lacking when another entry of the same result is taken.',
  },
  {
    name: 'multi_step_task_completion',
    definition:
      'When several things are asked for, the agent does all of them before it ends. It is lacking when some are done and others are never tried.',
  },
  // A rule of one domain: to be refused.
  {
    name: 'order_cancellation_policy',
    definition:
      'The agent knows which orders of the shop may be cancelled and which of them may only be returned to it. It is lacking when one is cancelled that may not be.',
  },
];

/** Every batch proposes some of them, each with two attempts. */
function discovery(user: string): object {
  const attempts = [...user.matchAll(/^### Attempt (\d+) /gm)].map((match) => Number(match[1]));
  const chosen = PROPOSALS.filter((_, i) => i === 0 || number(user, String(i)) % 3 > 0);
  return {
    capabilities: chosen.map((proposal) => ({
      ...proposal,
      elsewhere: 'System administration: a disk is removed only when nothing uses it.',
      examples: attempts.slice(0, 2).map((attempt) => ({ attempt, note: `seen in attempt ${attempt}` })),
    })),
  };
}

/** Keeps every proposal as it is. */
function merge(user: string): object {
  const proposals = [...user.matchAll(/^(\d+)\. ([a-z_]+) \(\d+ examples\): (.*?)(?: For example: .*)?$/gm)];
  return {
    capabilities: proposals.map(([, member, name, definition]) => ({
      name,
      definition,
      members: [Number(member)],
    })),
    left_out: [],
  };
}

/** A label by the hash of capability and attempt, the same for every rater but one in seven. */
function labels(user: string): object {
  const names = [...user.matchAll(/^- ([a-z_]+): /gm)]
    .map((match) => match[1]!)
    .filter((name) => isAsked(user, name));
  const attempt = user.slice(user.indexOf('## The attempt'), user.indexOf('## The capabilities to label'));
  const rater = /You are rater (\d+)/.exec(user)?.[1] ?? '';
  const words = [...attempt.matchAll(/^\[(\d+)\] agent: (.+)$/gm)];
  return {
    labels: names.map((capability) => {
      const own = number(capability, attempt, rater) % 7 === 0 ? rater : '';
      const label = ['NA', 'PRESENT', 'LACKING'][number(capability, attempt, own) % 3]!;
      const place = words[number(capability, attempt) % Math.max(1, words.length)];
      return {
        capability,
        reason: `Because of what stands there (${label}).`,
        label,
        evidence: label === 'LACKING' ? { message: Number(place![1]), quote: place![2]!.slice(0, 60) } : null,
      };
    }),
  };
}

/** Tools are listed in the same way; capabilities stand in the last section. */
function isAsked(user: string, name: string): boolean {
  return user.slice(user.indexOf('## The capabilities to label')).includes(`- ${name}: `);
}
