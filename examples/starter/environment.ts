import type {
  AssistantMessage,
  Episode,
  Message,
  Reference,
  Scenario,
  Score,
  SplitName,
  Target,
  ToolCall,
  ToolSchema,
} from 'trace-agents';

/**
 * A target of your own, to start from: a parcel desk. One customer asks to have a parcel redirected; the policy
 * allows it only while the parcel is in transit. Replace tools, scenario and verifier by yours; everything has to be
 * a pure function of the seed.
 */

interface Parcel {
  readonly id: string;
  readonly status: 'in transit' | 'delivered';
  address: string;
}

interface ParcelScenario extends Scenario {
  readonly parcels: readonly Parcel[];
  /** Index of the parcel that the customer means. */
  readonly wanted: number;
  readonly newAddress: string;
}

const STREETS = ['1 Mill Lane', '22 Harbour Road', '9 Abbey Street', '14 Garden Row', '3 Station Square'];
const MAX_TURNS = 8;

const tools: readonly ToolSchema[] = [
  {
    type: 'function',
    function: {
      name: 'get_parcel',
      description: 'Status and address of a parcel.',
      parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    },
  },
  {
    type: 'function',
    function: {
      name: 'redirect_parcel',
      description: 'Sends a parcel to another address.',
      parameters: {
        type: 'object',
        properties: { id: { type: 'string' }, address: { type: 'string' } },
        required: ['id', 'address'],
      },
    },
  },
];

const toolKinds = { get_parcel: 'read', redirect_parcel: 'write' } as const;

/** A number in [0, n) from a seed and a position: small, even, the same everywhere. */
function draw(seed: number, position: number, n: number): number {
  let state = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(position + 1, 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  state = Math.imul(state ^ (state >>> 12), 0x297a2d39);
  return ((state ^ (state >>> 15)) >>> 0) % n;
}

function scenario(seed: number): ParcelScenario {
  const parcels = [0, 1].map(
    (i): Parcel => ({
      id: `P${100 + 450 * i + draw(seed, i, 450)}`,
      status: draw(seed, 10 + i, 2) === 0 ? 'in transit' : 'delivered',
      address: STREETS[draw(seed, 20 + i, STREETS.length)]!,
    }),
  );
  return {
    seed,
    id: `parcel-${seed}`,
    parcels,
    wanted: draw(seed, 30, parcels.length),
    newAddress: `${STREETS[draw(seed, 40, STREETS.length)]}, flat ${1 + draw(seed, 41, 40)}`,
  };
}

/** What the right agent does: look, then redirect if the policy allows it. */
function reference(task: ParcelScenario): Reference {
  const { id, status } = task.parcels[task.wanted]!;
  const look = { name: 'get_parcel', arguments: { id }, kind: 'read' } as const;
  const write = {
    name: 'redirect_parcel',
    arguments: { id, address: task.newAddress },
    kind: 'write',
  } as const;
  return { actions: status === 'in transit' ? [look, write] : [look], requiredFacts: [], toolKinds };
}

class ParcelEpisode implements Episode {
  readonly messages: Message[];
  readonly #task: ParcelScenario;
  readonly #parcels: Parcel[];
  #turns = 0;
  termination: string | null = null;

  constructor(task: ParcelScenario, systemPrompt: string) {
    this.#task = task;
    this.#parcels = task.parcels.map((parcel) => ({ ...parcel }));
    const { id } = task.parcels[task.wanted]!;
    this.messages = [
      { role: 'system', content: systemPrompt },
      { role: 'user', content: `Please send parcel ${id} to ${task.newAddress} instead.` },
    ];
  }

  get done(): boolean {
    return this.termination !== null;
  }

  act(message: AssistantMessage): void {
    if (this.done) throw new Error('the episode is over');
    this.messages.push(message);
    this.#turns++;
    if (message.malformed !== undefined) this.termination = 'malformed';
    else if (!message.tool_calls?.length) this.termination = 'agent_stop';
    else {
      for (const call of message.tool_calls) this.messages.push(this.#answer(call));
      if (this.#turns >= MAX_TURNS) this.termination = 'max_turns';
    }
  }

  #answer(call: ToolCall): Message {
    const { name, arguments: given } = call.function;
    const parcel = this.#parcels.find((candidate) => candidate.id === given.id);
    const fail = (content: string): Message => ({
      role: 'tool',
      tool_call_id: call.id,
      name,
      content,
      error: true,
    });
    if (!parcel) return fail('there is no such parcel');
    if (name === 'redirect_parcel') parcel.address = String(given.address);
    else if (name !== 'get_parcel') return fail('there is no such tool');
    return { role: 'tool', tool_call_id: call.id, name, content: JSON.stringify(parcel) };
  }

  /** Passed when every parcel is where it should be. */
  score(): Score {
    const checks = this.#task.parcels.map((before, index) => {
      const redirect = index === this.#task.wanted && before.status === 'in transit';
      const address = redirect ? this.#task.newAddress : before.address;
      return { name: `address of ${before.id}`, passed: this.#parcels[index]!.address === address };
    });
    return { reward: checks.every((check) => check.passed) ? 1 : 0, checks };
  }
}

function systemPrompt(): string {
  return (
    'You are the parcel desk. A parcel may be redirected only while it is in transit. ' +
    'Look before you act, and tell the customer what you did.'
  );
}

/** First seed of every split; sizes below keep them apart. */
const SPLITS: Readonly<Record<SplitName, readonly [first: number, size: number]>> = {
  train: [0, 24],
  'train-compound': [0, 24],
  validation: [10_000, 64],
  test: [20_000, 512],
  shift: [30_000, 512],
};

const target: Target<ParcelScenario> = {
  name: 'parcel',
  family: 'tool-use',
  tools,
  toolKinds,
  maxTurns: MAX_TURNS,
  successThreshold: 1,
  systemPrompt,
  scenario,
  reference,
  open: (task) => new ParcelEpisode(task, systemPrompt()),
  split: (name, size) => {
    const [first, most] = SPLITS[name];
    return Array.from({ length: Math.min(size ?? most, most) }, (_, i) => first + i);
  },
};

export default target;
