import { expect, test } from 'vitest';
import { domainProblem, domainWords } from './domain.js';
import { areNearDuplicates } from './near-duplicates.js';

const tool = (name: string) => ({ type: 'function', function: { name, parameters: {} } }) as const;
const domain = domainWords([
  {
    messages: [],
    tools: [
      tool('cancel_reservation'),
      tool('get_user_details'),
      tool('update_reservation_baggages'),
      tool('bash'),
    ],
    metadata: {},
  },
]);
const definition =
  'Before a change that rules allow only under conditions, the agent reads what it needs to know whether they hold.';

test.each([
  'precondition_verification',
  'structured_data_reasoning',
  'multi_step_task_completion',
  'tool_calling_precision',
  'semantic_logic_precision',
  'deep_call_graph_traversal',
  'multi_site_consistency',
  'diff_context_precision',
  'structural_refactor_awareness',
  'error_recovery',
  'escalation_judgment',
])('%s is a capability', (name) => expect(domainProblem({ name, definition }, domain)).toBeNull());

test.each([
  ['retail_return_policy', definition, 'a rule of this domain ("retail")'],
  ['reservation_change_checks', definition, '"reservation"'],
  ['baggage_counting', definition, '"baggage"'],
  ['Precondition Verification', definition, 'snake_case'],
  ['verification', definition, 'snake_case'],
  ['a_b_c_d_e_f_g', definition, 'too long'],
  [
    'condition_checking',
    `${definition} It calls cancel_reservation first.`,
    'names the tool cancel_reservation',
  ],
  ['condition_checking', `${definition} As in mia_li_3668.`, 'mia_li_3668'],
  ['condition_checking', 'It checks conditions.', 'too short'],
])('%s is refused', (name, words, why) =>
  expect(domainProblem({ name, definition: words }, domain)).toContain(why),
);

test('near-duplicates are told by their words', () => {
  const a = { name: 'precondition_verification', definition };
  expect(
    areNearDuplicates(a, { name: 'verifying_preconditions', definition: 'Something else altogether here.' }),
  ).toBe(true);
  expect(areNearDuplicates(a, { name: 'checking_first', definition: `${definition} Always.` })).toBe(true);
  const other =
    'When several entries stand in a result, the agent picks the one that was asked for by its values.';
  expect(areNearDuplicates(a, { name: 'structured_data_reasoning', definition: other })).toBe(false);
  expect(areNearDuplicates(a, { name: 'output_verification', definition: other })).toBe(false);
});
