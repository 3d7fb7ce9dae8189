import { beforeAll, expect, test } from 'vitest';
import type { AuthorContext } from '../src/analyst/contract.js';
import { authorEnvironment } from '../src/analyst/offline/archetypes/author.js';
import { SWITCHES } from '../src/analyst/offline/archetypes/switches.js';
import { instantiateEnvironment } from '../src/environment/load-generated.js';
import { playTurns } from '../src/environment/runner.js';
import { Random } from '../src/run/random.js';
import { checkEnvironment } from '../src/synthesis/checks.js';
import { demonstrate, ratesOf } from '../src/targets/desk/demonstrator.js';
import { desk } from '../src/targets/desk/desk.js';
import type { Trajectory } from '../src/trajectory/trajectory.js';

// The offline author against the embedded target: it has never heard of desk and learns it from base rollouts, here
// those of the scripted demonstrator with all four deficits planted.
const DEFICITS = { selection: true, precondition: true, completion: true, arguments: true };
let context: AuthorContext;
beforeAll(async () => {
  const trajectories: Trajectory[] = [];
  for (const seed of desk.split('train'))
    for (let trial = 0; trial < 8; trial++) {
      const scenario = desk.scenario(seed);
      const turns = demonstrate(scenario, new Random(seed, `demonstrator/${trial}`), ratesOf(DEFICITS));
      const { messages, score, termination } = await playTurns(desk, scenario, turns);
      trajectories.push({
        id: `${scenario.id}/${trial}`,
        taskId: scenario.id,
        trial,
        source: 'rollout',
        messages,
        tools: desk.tools,
        reward: score.reward,
        outcome: score.reward >= 1 ? 'passed' : 'failed',
        termination,
        reference: desk.reference!(scenario),
        metadata: {},
      });
    }
  context = { target: desk, trajectories, seed: 1 };
});

const names = Object.keys(SWITCHES);
test.each([...names, 'structured_data_reasoning+precondition_verification'])(
  '%s of desk passes every check on 200 seeds',
  async (name) => {
    const authored = authorEnvironment({ name, definition: name }, context);
    const report = await checkEnvironment(authored, {
      target: desk,
      trajectories: context.trajectories,
      seeds: 200,
      successThreshold: 1,
    });
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    expect(report.checks.find((check) => check.name === 'oracle')!.figures).toEqual({
      solved: 200,
      seeds: 200,
    });
  },
);

test('a generated conversation cannot be told from one of desk by its form', async () => {
  const authored = authorEnvironment({ name: 'multi_step_task_completion', definition: '' }, context);
  const environment = instantiateEnvironment(authored.source, authored.settings);
  // Ids, products, payments and the like as placeholders: what is left is the form.
  const form = (text: string) =>
    text
      .replace(/\b[1-9] \w+ Street\b/g, 'ADDRESS')
      .replace(/\bk\d\d\b/g, 'ID')
      .replace(/\b(card|cash|gift)-\d\b/g, 'PAYMENT')
      .replace(/\$\d (\w+)-(\w+):/g, 'VARIANT')
      .replace(/"\w+-\w+:ID"/g, '"VARIANT"')
      .replace(/\b\w+:ID/g, 'ITEM')
      .replace(/the \w+ of order/g, 'the NAME of order')
      .replace(/for (\w+-\w+|the cheapest \w+)/g, 'WISH')
      .replace(/"name":"\w+"/g, '"name":NAME')
      .replace(/PAYMENT(","PAYMENT)+/g, 'PAYMENT')
      .replace(/ITEM(","ITEM)+/g, 'ITEM')
      .replace(/VARIANTID(","VARIANTID)+/g, 'VARIANTID');
  const forms = (messages: readonly { role: string; content: string | null; tool_calls?: unknown }[]) =>
    messages.flatMap(({ role, content, tool_calls }) =>
      (role === 'user'
        ? (content ?? '').split(/(?<=[.,]) /)
        : [content ?? JSON.stringify(tool_calls).replace(/"call_\d+"/, '"call"')]
      ).map((part) => `${role}: ${form(part).replace(/[.,]$/, '').replace('Please ', '')}`),
    );
  const known = new Set(context.trajectories.flatMap(({ messages }) => forms(messages)));
  const reports = (text: string) => text.startsWith('assistant: ID');
  for (let seed = 0; seed < 60; seed++) {
    const scenario = environment.scenario(seed);
    const { messages } = await playTurns(environment, scenario, environment.oracle(scenario));
    for (const text of forms(messages)) {
      if (reports(text))
        expect(text).toMatch(/^assistant: (ID (cancelled|returned|exchanged|readdressed)(, )?)+$/);
      else expect(known).toContain(text);
    }
  }
});
