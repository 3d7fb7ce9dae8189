import type { CapabilitiesFile } from '../src/analyst/capabilities-file.js';
import { Random } from '../src/run/random.js';
import { demonstrate, ratesOf } from '../src/targets/desk/demonstrator.js';
import { desk } from '../src/targets/desk/desk.js';
import type { DeskCapability } from '../src/targets/desk/scenario.js';
import type { AssistantMessage, Trajectory } from '../src/trajectory/trajectory.js';

/** Attempts of the scripted demonstrator of desk with deficits that are known: the ground of bench and tests. */
export interface Configuration {
  readonly deficits: readonly DeskCapability[];
  /** How often the demonstrator decides rightly where a deficit is planted. */
  readonly right: number;
  /** Share of calls whose order or payment is miscopied, which no setting calls a deficit. */
  readonly noise: number;
}

/** Which diagnosed capability each planted deficit is; no step knows it. */
const PLANTED: { readonly [deficit in DeskCapability]: string } = {
  selection: 'structured_data_reasoning',
  precondition: 'precondition_verification',
  completion: 'multi_step_task_completion',
  arguments: 'tool_calling_precision',
};

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

/** The demonstrator on all training tasks, `trials` times each. */
export async function plantedAttempts(
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

/** What a diagnosis found of what was planted. */
export interface Tally {
  readonly found: readonly string[];
  readonly missed: readonly string[];
  /** Retained, though not planted. */
  readonly wrong: readonly string[];
}

/** Compares the retained capabilities with the planted deficits. */
export function tallyOf(
  result: Pick<CapabilitiesFile, 'capabilities'>,
  deficits: readonly DeskCapability[],
): Tally {
  const planted = deficits.map((deficit) => PLANTED[deficit]);
  const retained = result.capabilities.filter((c) => c.retained).map((c) => c.name);
  return {
    found: retained.filter((name) => planted.includes(name)),
    missed: planted.filter((name) => !retained.includes(name)),
    wrong: retained.filter((name) => !planted.includes(name)),
  };
}
