import { type RenderedPrompt, userText } from '../prompts/render.js';

/** A request as a file: all that is needed to answer it, and where the answer goes. */
export function requestText(name: string, prompt: RenderedPrompt): string {
  return [
    `<!-- Answer in ../answers/${name}.json -->`,
    '',
    '# Instructions',
    '',
    prompt.system,
    '',
    '# What to read',
    '',
    userText(prompt),
    '',
  ].join('\n');
}

interface Readme {
  readonly open: readonly string[];
  readonly wrong: readonly { readonly file: string; readonly problems: readonly string[] }[];
  readonly answered: number;
  readonly resume: string;
}

const MOST_LISTED = 2_000;

/** `README.md` of the folder: what to do, and what is left to do. */
export function readmeText({ open, wrong, answered, resume }: Readme): string {
  const lines = [
    '# Requests of a diagnosis',
    '',
    'Attempts of an agent are to be read and judged. Each file in `requests/` is one request and holds all that is needed to answer it: instructions, what to read, and the form of the answer.',
    '',
    '## What to do',
    '',
    '1. Take a request from the list below and read it whole.',
    '2. Write the answer to `answers/NAME.json`, NAME being the name of the request without `.md`: one JSON object of the form that the request describes. (`.md` or `.txt` with the JSON in a code fence is read, too.)',
    '3. Answer every request by itself, with nothing in mind but what stands in it. The raters (`r01`, `r02` …) are to be independent of each other: do not look at the answers of another, do not copy them, and answer each rater in a fresh context where you can.',
    '4. Do not guess. A `LACKING` label needs words that stand in the message it names; they are looked for.',
    `5. Go on: \`${resume}\`. Answers are checked first, and every wrong one is named with what is wrong. There may be a next round: after the discovery come the labels.`,
    '',
    'Answer some now and the rest later, as you like: what is answered is kept.',
    '',
    `${answered} answered, ${wrong.length} to be mended, ${open.length} open.`,
    '',
  ];
  if (wrong.length > 0) {
    lines.push('## To be mended', '');
    for (const { file, problems } of wrong)
      lines.push(`- \`answers/${file.split(/[\\/]/).at(-1)}\`: ${problems.join('; ')}`);
    lines.push('');
  }
  if (open.length > 0) {
    lines.push('## Open', '');
    for (const name of open.slice(0, MOST_LISTED))
      lines.push(`- [ ] \`requests/${name}.md\` → \`answers/${name}.json\``);
    if (open.length > MOST_LISTED) lines.push(`- and ${open.length - MOST_LISTED} more in \`requests/\``);
    lines.push('');
  }
  return lines.join('\n');
}
