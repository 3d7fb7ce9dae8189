/**
 * Benchmark of planted deficits: does the diagnosis find what was planted, and nothing else?
 *
 *   npm run bench:diagnosis [-- --trials 8 --seed 1 --json]
 *   npm run bench:diagnosis -- --rollouts examples/desk/.trace/main/trajectories/base.jsonl
 *
 * The scripted demonstrator of desk plays the training tasks with every setting of its four switches and several
 * rates; the offline diagnosis sees the trajectories alone. What was planted is read here and by no step.
 * `--rollouts` measures a file of the base model's own attempts instead, in which all four were planted.
 */
import { parseArgs } from 'node:util';
import { OfflineRaters } from '../src/analyst/offline/offline.js';
import { diagnose } from '../src/diagnosis/diagnose.js';
import { Random } from '../src/run/random.js';
import { demonstrate, ratesOf } from '../src/targets/desk/demonstrator.js';
import { desk } from '../src/targets/desk/desk.js';
import { DESK_CAPABILITIES, type DeskCapability } from '../src/targets/desk/scenario.js';
import { readTrajectories } from '../src/trajectory/store.js';
import type { AssistantMessage, Trajectory } from '../src/trajectory/trajectory.js';

/** The turn with one wrong digit in an id of its call, now and then. */
function miscopied(turn: AssistantMessage, random: Random, noise: number): AssistantMessage {
  const [call] = turn.tool_calls ?? [];
  if (!call || !random.chance(noise)) return turn;
  const names = Object.keys(call.function.arguments);
  const name = random.pick(names);
  const value = String(call.function.arguments[name]).replace(/\d(?!.*\d)/, String(random.int(10)));
  const called = { ...call.function, arguments: { ...call.function.arguments, [name]: value } };
  return { ...turn, tool_calls: [{ ...call, function: called }] };
}

/** Which diagnosed capability each planted deficit is; known to this benchmark alone. */
const PLANTED: { readonly [deficit in DeskCapability]: string } = {
  selection: 'structured_data_reasoning',
  precondition: 'precondition_verification',
  completion: 'multi_step_task_completion',
  arguments: 'tool_calling_precision',
};

interface Configuration {
  readonly deficits: readonly DeskCapability[];
  /** How often the demonstrator decides rightly where a deficit is planted. */
  readonly right: number;
  /** Share of calls whose order or payment is miscopied, which no setting calls a deficit. */
  readonly noise: number;
}

/**
 * Every subset at the rate of the base model; every single deficit and pair at a milder one; every subset again
 * with copying errors, as a small model makes them.
 */
function configurations(): Configuration[] {
  const subsets = Array.from({ length: 2 ** DESK_CAPABILITIES.length }, (_, mask) =>
    DESK_CAPABILITIES.filter((_, i) => mask & (1 << i)),
  );
  const few = subsets.filter(({ length }) => length === 1 || length === 2);
  return [
    ...subsets.map((deficits) => ({ deficits, right: 0.25, noise: 0 })),
    ...few.map((deficits) => ({ deficits, right: 0.5, noise: 0 })),
    ...subsets.slice(1).map((deficits) => ({ deficits, right: 0.25, noise: 0.01 })),
  ];
}

async function attempts(
  { deficits, right, noise }: Configuration,
  trials: number,
  seed: number,
): Promise<Trajectory[]> {
  const rates = ratesOf(Object.fromEntries(deficits.map((name) => [name, true])), right);
  const all: Trajectory[] = [];
  for (const taskSeed of desk.split('train')) {
    const scenario = desk.scenario(taskSeed);
    for (let trial = 0; trial < trials; trial++) {
      const random = new Random(seed).fork('demonstrator', taskSeed, trial);
      const episode = await desk.open(scenario);
      for (const turn of demonstrate(scenario, random, rates)) {
        if (episode.done) break;
        await episode.act(miscopied(turn, random, noise));
      }
      const { reward, checks } = await episode.score();
      all.push({
        id: `${scenario.id}-${trial}`,
        taskId: scenario.id,
        trial,
        source: 'rollout',
        messages: episode.messages,
        tools: desk.tools,
        reward,
        outcome: reward >= desk.successThreshold ? 'passed' : 'failed',
        termination: episode.termination,
        checks,
        reference: desk.reference!(scenario),
        metadata: {},
      });
    }
  }
  return all;
}

async function collect(stream: AsyncIterable<Trajectory>): Promise<Trajectory[]> {
  const all: Trajectory[] = [];
  for await (const trajectory of stream) all.push(trajectory);
  return all;
}

const { values } = parseArgs({
  options: {
    trials: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
    rollouts: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const trials = Number(values.trials);
const seed = Number(values.seed);

let [found, planted, retained] = [0, 0, 0];
const rows = [];
const settings: readonly Configuration[] = values.rollouts
  ? [{ deficits: DESK_CAPABILITIES, right: Number.NaN, noise: Number.NaN }]
  : configurations();
for (const configuration of settings) {
  const trajectories = values.rollouts
    ? await collect(readTrajectories(values.rollouts))
    : await attempts(configuration, trials, seed);
  const { result } = await diagnose(trajectories, new OfflineRaters({ seed }), { seed });
  const expected = configuration.deficits.map((deficit) => PLANTED[deficit]);
  const names = result.capabilities.filter((c) => c.retained).map((c) => c.name);
  const hits = names.filter((name) => expected.includes(name));
  found += hits.length;
  planted += expected.length;
  retained += names.length;
  const row = {
    planted: configuration.deficits.join('+') || '(none)',
    right: configuration.right,
    noise: configuration.noise,
    passed: result.trajectories.passed,
    failed: result.trajectories.failed,
    missed: expected.filter((name) => !names.includes(name)),
    wrong: names.filter((name) => !expected.includes(name)),
    unexplained: result.unexplained.length,
    capabilities: result.capabilities.map(({ name, coverage, gap, ratersPassed, retained: kept }) => ({
      name,
      coverage,
      gap,
      ratersPassed,
      retained: kept,
    })),
  };
  rows.push(row);
  if (!values.json)
    process.stdout.write(
      `${row.planted.padEnd(46)} ${Number.isNaN(row.right) ? 'rollouts' : `right ${row.right} noise ${row.noise}`}  ${String(row.failed).padStart(4)} failed / ${String(row.passed).padStart(4)} passed  ` +
        `unexplained ${row.unexplained}  missed [${row.missed.join(', ')}]  wrong [${row.wrong.join(', ')}]\n`,
    );
}
const recall = found / planted;
const precision = retained === 0 ? 1 : found / retained;
if (values.json) process.stdout.write(`${JSON.stringify({ seed, trials, recall, precision, rows })}\n`);
else
  process.stdout.write(
    `${rows.length} configurations, seed ${seed}: recall ${found}/${planted} = ${recall.toFixed(3)}, precision ${found}/${retained} = ${precision.toFixed(3)}\n`,
  );
