import { basename } from 'node:path';
import { brief } from './cut.js';

/** Where a diagnosis came from, so that commands can be named that work. */
export interface DiagnosisOrigin {
  /** What was diagnosed, in a few words: file names, or a run. */
  readonly title: string;
  /** The command that makes this diagnosis. */
  readonly command: string;
  /** Commands that diagnose more attempts. */
  readonly more: readonly string[];
  /** Commands that let raters read the attempts, instead of detectors. */
  readonly read: readonly string[];
  /** Commands that go on to training. */
  readonly train: readonly string[];
  /** It is a step of a run, and the commands are for the project's folder. */
  readonly ofRun: boolean;
}

/** Files named in a command; of more, the first ones and a placeholder. */
const MOST_FILES = 4;

/** A word of a shell command, quoted where it has to be. */
function shellWord(text: string): string {
  const plain = brief(text, 200);
  return /^[\w@%+=:,./-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`;
}

/** The origin of a diagnosis of logged files. @param options further words of the command, such as `--raters 4`. */
export function originOfFiles(files: readonly string[], options: readonly string[] = []): DiagnosisOrigin {
  const named = files.slice(0, MOST_FILES).map(shellWord);
  if (files.length > MOST_FILES) named.push('OTHERS…');
  const command = ['npx trace diagnose', ...named, ...options.map(shellWord)].join(' ');
  const names = files.slice(0, MOST_FILES).map((file) => basename(file));
  if (files.length > MOST_FILES) names.push(`${files.length - MOST_FILES} more`);
  return {
    title: names.join(', '),
    command,
    more: [
      `npx trace diagnose ${named.join(' ')} MORE-RESULTS${options.length > 0 ? ` ${options.map(shellWord).join(' ')}` : ''}`,
    ],
    read: [`${command} --analyst llm --model MODEL --base-url URL`, `${command} --analyst handoff`],
    train: ['npx trace init my-agent', 'npx trace run my-agent'],
    ofRun: false,
  };
}

/** The origin of a diagnosis that is a step of a run; its commands are for the project's folder. */
export function originOfRun(folder: string): DiagnosisOrigin {
  const run = basename(folder);
  const flags = run === 'main' ? '' : run === 'fast' ? ' --fast' : ` --run ${shellWord(run)}`;
  return {
    title: `run ${run}`,
    command: `npx trace diagnose --again${flags}`,
    more: [`npx trace rollout --again${flags}`, `npx trace diagnose --again${flags}`],
    read: [
      `npx trace diagnose --again${flags} --analyst llm --model MODEL --base-url URL`,
      `npx trace diagnose --again${flags} --analyst handoff`,
    ],
    train: [`npx trace run${flags}`],
    ofRun: true,
  };
}
