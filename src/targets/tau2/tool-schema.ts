import type { JsonSchema, ToolKind, ToolSchema } from '../../trajectory/trajectory.js';
import type { ToolType } from './toolkit.js';

/** How tools are described to models: the benchmark's names, parameters and types, in words of our own. */

export const text = (description: string): JsonSchema => ({ type: 'string', description });
export const whole = (description: string): JsonSchema => ({ type: 'integer', description });
export const number = (description: string): JsonSchema => ({ type: 'number', description });
export const choice = (description: string, ...values: string[]): JsonSchema => ({
  type: 'string',
  enum: values,
  description,
});
export const texts = (description: string): JsonSchema => ({
  type: 'array',
  items: { type: 'string' },
  description,
});
export const records = (
  description: string,
  properties: { readonly [name: string]: JsonSchema },
): JsonSchema => ({
  type: 'array',
  items: { type: 'object', properties, required: Object.keys(properties) },
  description,
});

export type Parameters = { readonly [name: string]: JsonSchema };

/** A tool; every parameter is required but those in `optional`. */
export function schema(
  name: string,
  description: string,
  properties: Parameters = {},
  optional: readonly string[] = [],
): ToolSchema {
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: {
        type: 'object',
        properties,
        required: Object.keys(properties).filter((parameter) => !optional.includes(parameter)),
      },
    },
  };
}

export const TRANSFER = schema(
  'transfer_to_human_agents',
  'Hand the user over to a human agent. Only where the user asks for one, or where policy and tools leave no other way.',
  { summary: text('What the user wants and what was done so far.') },
);

export const CALCULATE = schema('calculate', 'Compute an arithmetic expression, rounded to two places.', {
  expression: text('Numbers, + - * /, parentheses and blanks, such as "2 + 2".'),
});

/** Kinds of tools by their type; handing over is its own kind. */
export function kindsOf(types: ReadonlyMap<string, ToolType>): { readonly [tool: string]: ToolKind } {
  const kind = (name: string, type: ToolType): ToolKind =>
    name === 'transfer_to_human_agents' ? 'handover' : type === 'generic' ? 'other' : type;
  return Object.fromEntries([...types].map(([name, type]) => [name, kind(name, type)]));
}
