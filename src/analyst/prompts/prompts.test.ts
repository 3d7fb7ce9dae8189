import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeFileWhole } from '../../run/files.js';
import { readAnswer, schemaProblems } from '../prompted/answer.js';
import { familyOf } from './family.js';
import { FAMILIES, PromptLibrary } from './library.js';
import { parsePromptFile } from './prompt-file.js';
import { renderPrompt, userText } from './render.js';

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'trace-prompts-'));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const place = { id: 'general/label', file: '/p/label.md', origin: 'project' as const };
const GOOD = `---
purpose: count things
inputs:
  things: what to count
output:
  type: object
  required: [count]
  properties:
    count: { type: integer }
---
Count.

<!-- user -->

Shared: {{things}}

<!-- cache -->

Own {{ things }}.
`;

describe('a prompt file', () => {
  test('is read and rendered; inputs are filled in once, the schema stands in the instructions', () => {
    const prompt = parsePromptFile(GOOD, place);
    expect(prompt).toMatchObject({
      purpose: 'count things',
      system: 'Count.',
      inputs: { things: 'what to count' },
    });
    const rendered = renderPrompt(prompt, { things: 'a {{things}} $& b', other: 'x' });
    expect(rendered.user).toEqual(['Shared: a {{things}} $& b', 'Own a {{things}} $& b.']);
    expect(userText(rendered)).toBe('Shared: a {{things}} $& b\n\nOwn a {{things}} $& b.');
    expect(rendered.system).toContain(JSON.stringify(prompt.output));
    expect(() => renderPrompt(prompt, {})).toThrow(/nothing is given for the input things/);
  });

  test.each([
    ['no front matter', 'Count.', 'begins with front matter'],
    [
      'front matter that is no YAML',
      GOOD.replace('purpose: count things', 'purpose: [count'),
      'front matter, line',
    ],
    ['no purpose', GOOD.replace('purpose: count things\n', ''), 'purpose'],
    ['a field too many', GOOD.replace('inputs:', 'model: x\ninputs:'), 'model'],
    [
      'an input that is not declared',
      GOOD.replace('Own {{ things }}', 'Own {{ stuff }}'),
      '{{stuff}} is not among',
    ],
    ['no user message', GOOD.replace('<!-- user -->', ''), '<!-- user -->'],
    ['a schema that is none', GOOD.replace('type: object', 'type: thing'), 'no JSON Schema'],
  ])('%s is refused with the file', (_, text, words) => {
    expect(() => parsePromptFile(text, place)).toThrow(expect.objectContaining({ exitCode: 2 }));
    expect(() => parsePromptFile(text, place)).toThrow('/p/label.md: ');
    expect(() => parsePromptFile(text, place)).toThrow(words);
  });
});

describe('the prompts that come with TRACE', () => {
  const library = new PromptLibrary(null);

  test('every family can discover and label', () => {
    const ids = library.list().map(({ id }) => id);
    for (const family of FAMILIES)
      expect(ids).toEqual(expect.arrayContaining([`${family}/discover`, `${family}/label`]));
    expect(library.of('tool-use', 'merge').id).toBe('general/merge');
    expect(() => library.get('tool-use/nothing')).toThrow(/there is no prompt/);
    expect(() => library.get('../package')).toThrow(/there is no prompt/);
  });

  // Worked examples stand in lines that are set in by four spaces.
  test.each(library.list().map((prompt) => [prompt.id, prompt] as const))(
    '%s: its worked examples are JSON of its own schema, one of each label',
    (id, prompt) => {
      const examples = [...prompt.system.matchAll(/(?:^ {4}.*\n?)+/gm)].map((match) => readAnswer(match[0]));
      expect(examples.length).toBeGreaterThan(0);
      const inner = (value: unknown): unknown =>
        id.endsWith('/label')
          ? { labels: [value] }
          : id.endsWith('/discover')
            ? { capabilities: [value] }
            : value;
      for (const example of examples) {
        expect(example).toHaveProperty('value');
        expect(schemaProblems(prompt.output, inner((example as { value: unknown }).value))).toEqual([]);
      }
      if (!id.endsWith('/label')) return;
      const labels = examples.map((example) => (example as { value: { label: string } }).value.label);
      expect(labels).toEqual(['NA', 'PRESENT', 'LACKING']);
    },
  );
});

test('a project overrides one prompt, and only that', () => {
  const packaged = new PromptLibrary(null).get('tool-use/label');
  writeFileWhole(
    join(project, 'prompts', 'tool-use', 'label.md'),
    packaged.text.replace('You are one of', 'You are, here, one of'),
  );
  writeFileWhole(join(project, 'prompts', 'README.txt'), 'not a prompt');
  const library = new PromptLibrary(project);
  expect(library.of('tool-use', 'label')).toMatchObject({ origin: 'project' });
  expect(library.of('tool-use', 'label').system).toContain('You are, here, one of');
  expect(library.of('general', 'label').origin).toBe('package');
  expect(
    library
      .list()
      .filter(({ origin }) => origin === 'project')
      .map(({ id }) => id),
  ).toEqual(['tool-use/label']);
});

test('families are told by the tools', () => {
  const attempt = (source: string, ...names: string[]) => ({
    source,
    messages: [],
    tools: names.map((name) => ({ type: 'function' as const, function: { name, parameters: {} } })),
  });
  expect(familyOf([attempt('chat')])).toBe('general');
  expect(
    familyOf([attempt('tau-bench', 'get_user'), attempt('tau-bench', 'get_user'), attempt('chat')]),
  ).toBe('tool-use');
  expect(familyOf([attempt('swe-agent'), attempt('mini-swe-agent', 'bash')])).toBe('code-repair');
});
