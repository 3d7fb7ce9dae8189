import { InputError } from '../../run/errors.js';
import type { JsonSchema } from '../../trajectory/trajectory.js';
import { PLACEHOLDER, type PromptFile } from './prompt-file.js';

/** What is sent to whoever answers. */
export interface RenderedPrompt {
  readonly system: string;
  /** The user message in pieces; put together with empty lines between them. */
  readonly user: readonly string[];
  /** JSON Schema of the answer. */
  readonly schema: JsonSchema;
}

/**
 * Fills a prompt's inputs in. The answer's schema is put at the end of the instructions, so that an endpoint that
 * cannot be told of it otherwise knows it too.
 * @param schema instead of the prompt's own, where the inputs narrow it (names to choose from).
 * @throws InputError when the prompt names an input that is not given.
 */
export function renderPrompt(
  prompt: PromptFile,
  inputs: { readonly [name: string]: string },
  schema: JsonSchema = prompt.output,
): RenderedPrompt {
  for (const name of Object.keys(prompt.inputs))
    if (inputs[name] === undefined)
      throw new InputError(
        `${prompt.file}: nothing is given for the input ${name}`,
        `The inputs of this prompt are ${Object.keys(inputs).join(', ')}.`,
      );
  // One pass: an input that holds `{{…}}` itself stays as it is.
  const fill = (text: string) => text.replace(PLACEHOLDER, (_, name: string) => inputs[name]!);
  const answer = [
    '## Form of the answer',
    '',
    'One JSON object and nothing else: no words before or after it, no code fence. It fits this JSON Schema:',
    '',
    JSON.stringify(schema),
  ].join('\n');
  return {
    system: `${fill(prompt.system)}\n\n${answer}`,
    user: prompt.user.map(fill),
    schema,
  };
}

/** The user message as one text. */
export const userText = (prompt: RenderedPrompt): string => prompt.user.join('\n\n');
