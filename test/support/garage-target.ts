import type { Environment, Episode, Scenario, Score } from '../../src/environment/contract.js';
import { playTurns } from '../../src/environment/runner.js';
import { Random } from '../../src/run/random.js';
import type {
  AssistantMessage,
  Message,
  Reference,
  ReferenceAction,
  ToolKind,
  ToolSchema,
  Trajectory,
} from '../../src/trajectory/trajectory.js';

/**
 * A second target of the service kind with other words and other result shapes than desk (objects in lists,
 * numbers, keys repeated in results), so that what is learned by induction is tested on a form that nobody had in
 * mind when the archetype was written.
 */
const tool = (name: string, parameters: Record<string, string>): ToolSchema => ({
  type: 'function',
  function: {
    name,
    description: `${name} of the garage`,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(parameters).map(([key, type]) => [key, { type }])),
      required: Object.keys(parameters),
    },
  },
});

export const GARAGE_TOOLS: readonly ToolSchema[] = [
  tool('find_client', { client: 'string' }),
  tool('find_job', { job: 'string' }),
  tool('list_parts', { kind: 'string' }),
  tool('drop_job', { job: 'string' }),
  tool('fit_part', { job: 'string', old_code: 'string', new_code: 'string', voucher: 'string' }),
  tool('move_job', { job: 'string', bay: 'integer' }),
  tool('escalate', { job: 'string' }),
];

export const GARAGE_KINDS: { readonly [tool: string]: ToolKind } = {
  find_client: 'read',
  find_job: 'read',
  list_parts: 'read',
  drop_job: 'write',
  fit_part: 'write',
  move_job: 'write',
  escalate: 'handover',
};

const KINDS = ['brake', 'tyre', 'mirror', 'pump', 'seat', 'lamp', 'belt', 'filter'];
const GRADES = ['basic', 'sport', 'eco', 'heavy'];
const MAKERS = ['Orla', 'Brix', 'Tano', 'Veer'];

interface Part {
  readonly kind: string;
  readonly code: string;
}
interface Offer {
  readonly maker: string;
  readonly grade: string;
  readonly euros: number;
  readonly code: string;
}
interface Job {
  readonly write: 'drop_job' | 'fit_part' | 'move_job';
  readonly id: string;
  readonly stage: string;
  readonly allowed: boolean;
  readonly voucher: string;
  readonly parts: readonly Part[];
  readonly part: Part;
  readonly offers: readonly Offer[];
  readonly offer: Offer;
  readonly cheapest: boolean;
  readonly bay: number;
}
export interface GarageScenario extends Scenario {
  readonly client: string;
  readonly vouchers: readonly string[];
  readonly jobs: readonly Job[];
}

const STAGES = {
  drop_job: ['open'],
  fit_part: ['started', 'paused'],
  move_job: ['open', 'started'],
} as const;
const ALL_STAGES = ['open', 'started', 'paused', 'closed'];

function scenario(seed: number): GarageScenario {
  const random = new Random(seed, 'garage');
  const codes = random.shuffle(Array.from({ length: 900 }, (_, i) => 100 + i));
  const code = (letter: string) => `${letter}-${codes.pop()}`;
  const vouchers = Array.from(
    { length: 1 + random.int(3) },
    () => `${random.pick(['gold', 'blue'])} ${codes.pop()}`,
  );
  const kinds = random.shuffle(KINDS);
  const jobs = Array.from({ length: 1 + random.int(3) }, (): Job => {
    const write = random.pick(['drop_job', 'fit_part', 'move_job'] as const);
    const allowed = random.chance(0.7);
    const stages: readonly string[] = STAGES[write];
    const stage = random.pick(allowed ? stages : ALL_STAGES.filter((s) => !stages.includes(s)));
    const parts = Array.from({ length: 1 + random.int(2) }, () => ({ kind: kinds.pop()!, code: code('p') }));
    const cheapest = random.chance(0.5);
    const euros = random.sample([20, 35, 50, 65, 80, 95], 4);
    const maker = random.pick(MAKERS);
    const grade = random.pick(GRADES);
    const offers = Array.from({ length: 4 }, (_, i) => ({
      maker: i < 2 ? maker : random.pick(MAKERS.filter((m) => m !== maker)),
      grade: i === 0 ? grade : random.pick(GRADES.filter((g) => g !== grade)),
      euros: euros[i]!,
      code: code('n'),
    }));
    const offer = cheapest && offers[1]!.euros < offers[0]!.euros ? offers[1]! : offers[0]!;
    return {
      write,
      id: code('J'),
      stage,
      allowed,
      voucher: random.pick(vouchers),
      parts,
      part: random.pick(parts),
      offers: random.shuffle(offers),
      offer,
      cheapest,
      bay: 1 + random.int(6),
    };
  });
  return { seed, id: `garage-${seed}`, client: code('C'), vouchers, jobs };
}

function actionOf(job: Job): ReferenceAction {
  if (!job.allowed) return { name: 'escalate', arguments: { job: job.id }, kind: 'handover' };
  const args = {
    drop_job: { job: job.id },
    fit_part: { job: job.id, old_code: job.part.code, new_code: job.offer.code, voucher: job.voucher },
    move_job: { job: job.id, bay: job.bay },
  }[job.write];
  return { name: job.write, arguments: args, kind: 'write' };
}

const outcome = (job: Job) =>
  job.allowed ? { drop_job: 'dropped', fit_part: 'fitted', move_job: 'moved' }[job.write] : 'escalated';

function request(s: GarageScenario): string {
  const clauses = s.jobs.map((job) => {
    if (job.write === 'drop_job') return `please drop job ${job.id}`;
    if (job.write === 'move_job') return `please put job ${job.id} into another bay`;
    const wish = job.cheapest
      ? `the cheapest from ${job.offer.maker}`
      : `the ${job.offer.grade} one from ${job.offer.maker}`;
    return `please swap the ${job.part.kind} on job ${job.id} for ${wish}`;
  });
  return `Client ${s.client} here. ${clauses.join(' and ')}!`;
}

class GarageEpisode implements Episode {
  readonly messages: Message[];
  done = false;
  termination: string | null = null;
  readonly #log: string[] = [];
  #said = '';
  constructor(readonly s: GarageScenario) {
    this.messages = [
      { role: 'system', content: GARAGE_PROMPT },
      { role: 'user', content: request(s) },
    ];
  }
  act(message: AssistantMessage): void {
    this.messages.push(message);
    const end = (termination: string) => {
      this.done = true;
      this.termination = termination;
    };
    if (message.malformed) {
      end('malformed');
      return;
    }
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) {
      if (message.content === 'Which bay?') {
        const job = this.s.jobs.find(({ write }) => write === 'move_job');
        this.messages.push({ role: 'user', content: `Bay ${job?.bay ?? 1} please.` });
        return;
      }
      this.#said += message.content ?? '';
      end('user_stop');
      return;
    }
    for (const { id, function: call } of calls) {
      const job = this.s.jobs.find((one) => one.id === call.arguments.job);
      let result: unknown = { failed: 'no such thing' };
      if (call.name === 'find_client' && call.arguments.client === this.s.client)
        result = { client: this.s.client, vouchers: this.s.vouchers };
      else if (call.name === 'find_job' && job)
        result = { job: job.id, stage: job.stage, paid_with: job.voucher, parts: job.parts };
      else if (call.name === 'list_parts') {
        const found = this.s.jobs.find(({ part }) => part.kind === call.arguments.kind);
        if (found) result = { kind: found.part.kind, offers: found.offers };
      } else if (job && GARAGE_KINDS[call.name] !== 'read') {
        this.#log.push(JSON.stringify([call.name, call.arguments]));
        result = `done with ${job.id}`;
      }
      this.messages.push({
        role: 'tool',
        tool_call_id: id,
        content: typeof result === 'string' ? result : JSON.stringify(result),
        ...(typeof result === 'object' && result !== null && 'failed' in result ? { error: true } : {}),
      });
    }
    if (this.messages.length > 60) end('max_turns');
  }
  score(): Score {
    const wanted = this.s.jobs.map((job) => JSON.stringify([actionOf(job).name, actionOf(job).arguments]));
    const passed =
      [...this.#log].sort().join() === wanted.sort().join() &&
      this.s.jobs.every((job) => this.#said.includes(`${job.id} is ${outcome(job)}`));
    return { reward: passed ? 1 : 0, checks: [{ name: 'state and facts', passed }] };
  }
}

const GARAGE_PROMPT = 'Drop open jobs only. Fit parts to started or paused jobs only. Escalate the rest.';

export const garage: Environment<GarageScenario> = {
  name: 'garage',
  tools: GARAGE_TOOLS,
  toolKinds: GARAGE_KINDS,
  maxTurns: 20,
  systemPrompt: () => GARAGE_PROMPT,
  scenario,
  open: (s) => new GarageEpisode(s),
  reference: (s): Reference => ({
    actions: s.jobs.map(actionOf),
    requiredFacts: s.jobs.map((job) => `${job.id} is ${outcome(job)}`),
    toolKinds: GARAGE_KINDS,
  }),
};

/** Turns of an agent that makes each planted error with its probability: a stand-in for a base model. */
export function garageAgent(s: GarageScenario, random: Random, right: number): AssistantMessage[] {
  const turns: AssistantMessage[] = [];
  const call = (name: string, args: Record<string, unknown>) =>
    turns.push({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c0', type: 'function', function: { name, arguments: args } }],
    });
  call('find_client', { client: s.client });
  const said: string[] = [];
  for (const [i, job] of s.jobs.entries()) {
    if (i > 0 && !random.chance(right)) break;
    call('find_job', { job: random.chance(0.95) ? job.id : 'J-000' });
    let action = actionOf(job);
    if (!job.allowed && !random.chance(right)) action = actionOf({ ...job, allowed: true });
    if (action.name === 'fit_part') {
      call('list_parts', { kind: job.part.kind });
      if (!random.chance(right))
        action = { ...action, arguments: { ...action.arguments, new_code: job.offers[0]!.code } };
      if (!random.chance(right))
        action = { ...action, arguments: { ...action.arguments, voucher: s.vouchers[0]! } };
    }
    if (action.name === 'move_job') turns.push({ role: 'assistant', content: 'Which bay?' });
    call(action.name, { ...action.arguments });
    said.push(
      `${job.id} is ${action.name === 'escalate' ? 'escalated' : outcome({ ...job, allowed: true })}`,
    );
  }
  turns.push({ role: 'assistant', content: `${said.join(', and ')}. Bye!` });
  return turns;
}

/** Base rollouts of the garage: `trials` attempts at each of `tasks` fixed tasks. */
export async function garageTrajectories(tasks: number, trials: number, right = 0.4): Promise<Trajectory[]> {
  const trajectories: Trajectory[] = [];
  for (let t = 0; t < tasks; t++)
    for (let trial = 0; trial < trials; trial++) {
      const s = scenario(5000 + t);
      const played = await playTurns(garage, s, garageAgent(s, new Random(t, `agent/${trial}`), right));
      trajectories.push({
        id: `${s.id}/${trial}`,
        taskId: s.id,
        trial,
        source: 'rollout',
        messages: played.messages,
        tools: GARAGE_TOOLS,
        reward: played.score.reward,
        outcome: played.score.reward >= 1 ? 'passed' : 'failed',
        termination: played.termination,
        checks: played.score.checks,
        reference: garage.reference!(s),
        metadata: {},
      });
    }
  return trajectories;
}
