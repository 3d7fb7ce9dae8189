import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { CONFIG_NAMES } from '../config/load.js';
import { STEP_NAMES, type StepName } from '../run/events.js';
import { type AnalystFlags, addAnalystOptions } from './analyst-flags.js';
import type { ImportFlags } from './commands/import.js';
import type { PromptsFlags } from './commands/prompts.js';
import { addTau2Command } from './commands/tau2.js';
import type { DiagnoseFlags } from './diagnose.js';
import { packageVersion } from './version.js';

/** Options of every command that works on a run. */
interface RunFlags {
  readonly run?: string;
  readonly seed?: number;
  readonly fast?: boolean;
  readonly json?: boolean;
  readonly from?: StepName;
  readonly until?: StepName;
  readonly again?: boolean;
}

const STEP_HELP: Readonly<Record<StepName, string>> = {
  rollout: 'let the base model try the training tasks of the target',
  diagnose: 'step 1: which capabilities are missing; of a project, or of logged trajectories',
  synthesize: 'step 2: write, check and calibrate one environment per missing capability',
  train: 'step 3: train one LoRA adapter per capability by GRPO',
  compose: 'step 4: fit token gates over the frozen adapters',
  baselines: 'train what the mixture is compared with, at equal rollouts',
  evaluate: 'measure base, adapters, baselines and mixture on held-out tasks',
  report: 'write report.html of the run',
};

/** The command line. Commands load their rooms when they run, so that `--help` is quick. */
export function createProgram(): Command {
  const program = new Command('trace')
    .description(
      'Turns the recurrent failures of an agent into a better agent: finds the capabilities that are missing, ' +
        'builds a verifiable environment for each, trains one LoRA adapter for each, and routes every token to ' +
        'the adapter it needs.',
    )
    .version(packageVersion())
    .showHelpAfterError('(trace --help lists the commands)')
    .configureHelp({ sortSubcommands: false })
    .addHelpText(
      'after',
      `
Examples:
  $ trace run examples/desk            the whole method on the embedded target
  $ trace run my-agent --until diagnose
  $ trace diagnose results.json        what is missing in logged trajectories, without a model
  $ trace import logs.jsonl            logs of any agent into a file of attempts
  $ trace status my-agent

Exit codes: 0 done, 1 the work failed or was stopped, 2 wrong use or input.`,
    );

  program
    .command('init')
    .argument('[folder]', 'where to make the project', '.')
    .description('make a project: trace.config.ts, an environment to start from, README')
    .option('--json', 'print one JSON line')
    .action(async (folder: string, flags: { json?: boolean }) => {
      const { initCommand } = await import('./commands/init.js');
      initCommand(folder, flags);
    });

  const run = program
    .command('run')
    .argument('[project]', 'folder with a trace.config.*, or the file itself', '.')
    .description('all steps, one after the other; goes on where it was stopped');
  addRunOptions(run)
    .addOption(stepOption('--from <step>', 'do this step and all after it again'))
    .addOption(stepOption('--until <step>', 'stop after this step'))
    .addHelpText(
      'after',
      `
Steps, in order: ${STEP_NAMES.join(', ')}.
Everything is written to PROJECT/.trace/NAME. Stop it at any moment and run it again: finished work is kept, and
the files end the same.

Examples:
  $ trace run examples/desk
  $ trace run examples/desk --fast     a smoke run in minutes
  $ trace run examples/desk --run second --seed 2
  $ trace run examples/desk --from evaluate`,
    )
    .action(async (project: string, flags: RunFlags) => {
      const { runCommand } = await import('./commands/run.js');
      await runCommand(project, flags);
    });

  addImportCommand(program);
  addStepCommand(program, 'rollout');
  addDiagnoseCommand(program);
  for (const name of STEP_NAMES.slice(STEP_NAMES.indexOf('diagnose') + 1)) addStepCommand(program, name);

  program
    .command('status')
    .argument('[project]', 'folder with a trace.config.*', '.')
    .description('where the runs of a project stand')
    .option('--run <name>', 'only this run')
    .option('--json', 'print one JSON line')
    .action(async (project: string, flags: { run?: string; json?: boolean }) => {
      const { statusCommand } = await import('./commands/status.js');
      statusCommand(project, flags);
    });

  addPromptsCommand(program);

  program
    .command('doctor')
    .argument('[project]', 'folder with a trace.config.*; without one the machine alone is looked at')
    .description('what is missing on this machine, and how to mend it')
    .option('--json', 'print one JSON line')
    .action(async (project: string | undefined, flags: { json?: boolean }) => {
      const { doctorCommand } = await import('./commands/doctor.js');
      await doctorCommand(project, flags);
    });

  addTau2Command(program);

  return program;
}

/** `trace prompts`: the prompts that a language model, a person or a coding agent answers. */
function addPromptsCommand(program: Command): void {
  const prompts = program
    .command('prompts')
    .description('the prompts of the steps: list them, show one, copy them into a project to change them');
  const options = (command: Command): Command =>
    command
      .option('--project <folder>', 'the project whose prompts/ override (default: this folder)')
      .option('--json', 'print one JSON line');
  options(prompts.command('list').description('all prompts, and which of them the project overrides')).action(
    async (flags: PromptsFlags) => {
      const { listPrompts } = await import('./commands/prompts.js');
      listPrompts(flags);
    },
  );
  options(
    prompts.command('show').argument('<id>', 'such as tool-use/label').description('print a prompt'),
  ).action(async (id: string, flags: PromptsFlags) => {
    const { showPrompt } = await import('./commands/prompts.js');
    showPrompt(id, flags);
  });
  options(
    prompts
      .command('eject')
      .argument('[ids...]', 'such as tool-use/label')
      .description('copy prompts into the project, where they override those that come with TRACE'),
  )
    .option('--all', 'all of them')
    .option('--force', 'overwrite what is there')
    .action(async (ids: string[], flags: PromptsFlags) => {
      const { ejectPrompts } = await import('./commands/prompts.js');
      ejectPrompts(ids, flags);
    });
}

/** A command that runs one step of a project, such as `trace train`. */
function addStepCommand(program: Command, name: StepName): void {
  const command = program
    .command(name)
    .argument('[project]', 'folder with a trace.config.*, or the file itself', '.')
    .description(STEP_HELP[name]);
  addRunOptions(command)
    .option('--again', 'do it again though it is done')
    .action((project: string, flags: RunFlags) => runStep(name, project, flags));
}

async function runStep(name: StepName, project: string, flags: RunFlags & AnalystFlags): Promise<void> {
  const { runCommand } = await import('./commands/run.js');
  const { again, ...rest } = flags;
  await runCommand(project, { ...rest, only: name, ...(again ? { from: name } : {}) });
}

/** `trace diagnose`: the step of a project, or, for files, a diagnosis of its own. */
function addDiagnoseCommand(program: Command): void {
  const command = program
    .command('diagnose')
    .argument('[inputs...]', 'files of logged trajectories; or a project folder (default: this one)')
    .description(STEP_HELP.diagnose);
  addRunOptions(command)
    .option('--again', 'of a project: do it again though it is done')
    .option('--out <folder>', 'of files: write capabilities, raters and a report there')
    .option('--raters <n>', 'of files: number of raters (10)')
    .option('--keep <k>', 'of files: raters that a capability has to pass (8 of 10)')
    .option('--rho <x>', 'of files: least coverage (0.1)')
    .option('--delta <x>', 'of files: least contrastive gap (0.2)')
    .option(
      '--import-raters <folder>',
      'labels from rater files instead of an analyst; the files may be left out',
    )
    .option(
      '--export <folder>',
      "of files: write labels and selection in the reference implementation's format",
    )
    .option(
      '--resume',
      'go on with a diagnosis of files: its answers are checked, what is missing is asked for',
    );
  addReadingOptions(command);
  addAnalystOptions(command)
    .addHelpText(
      'after',
      `
Reads the formats that \`trace import --list\` prints, from files and folders; needs no model and no key,
unless --analyst names one.

Examples:
  $ trace diagnose results.json
  $ trace diagnose results.json --analyst llm --model NAME --base-url http://localhost:8000/v1
  $ trace diagnose results.json --analyst handoff; trace diagnose --resume
  $ trace diagnose retail.json airline.json --out diagnosis
  $ trace diagnose results.json --json
  $ trace diagnose examples/desk       the step of a project`,
    )
    .action(async (inputs: string[], flags: RunFlags & DiagnoseFlags) => {
      const [first = '.'] = inputs;
      const { diagnoseFiles } = await import('./diagnose.js');
      if (flags.resume && inputs.length === 0) {
        const { hasKeptCommand, keptCommand } = await import('./diagnose-session.js');
        const inProject = CONFIG_NAMES.some((name) => existsSync(name));
        if (flags.out !== undefined || hasKeptCommand(flags) || !inProject) {
          const kept = keptCommand(flags);
          return diagnoseFiles(kept.files, kept.flags);
        }
      }
      if (inputs.length < 2 && !flags.importRaters && isProject(first))
        return runStep('diagnose', first, flags);
      return diagnoseFiles(inputs, flags);
    });
}

/** A configuration file, or a folder with one; this folder is meant as a project even where it has none. */
function isProject(path: string): boolean {
  if (CONFIG_NAMES.some((name) => name === basename(path))) return true;
  if (!existsSync(path) || !statSync(path).isDirectory()) return false;
  return path === '.' || CONFIG_NAMES.some((name) => existsSync(join(path, name)));
}

/** Options of every command that reads logged attempts. */
function addReadingOptions(command: Command): Command {
  return command
    .option('--format <name>', 'format of the files (default: auto, told by their content)')
    .option(
      '--verdicts <file>',
      'passed or failed by id: CSV, JSONL or JSON; reports of SWE-bench for its formats',
    )
    .option('--pass-at <x>', 'least score of a pass, where a file has only scores (default: full marks)')
    .option('--skip-invalid', 'leave out records that cannot be read, and list them');
}

/** `trace import`: logged attempts of any format into a file of TRACE's own. */
function addImportCommand(program: Command): void {
  const command = program
    .command('import')
    .argument('[inputs...]', 'files of logged attempts, or folders of such files')
    .description("read an agent's logs, whatever wrote them, into one file of attempts");
  addReadingOptions(command)
    .option('--out <file>', 'the file to write (default: .trace/imported.jsonl)')
    .option('--list', 'print the formats and how each is known')
    .option('--json', 'print one JSON line')
    .addHelpText(
      'after',
      `
Examples:
  $ trace import logs.jsonl
  $ trace import runs/ --out attempts.jsonl
  $ trace import chats.jsonl --verdicts verdicts.csv
  $ trace import scores.jsonl --pass-at 0.8 --skip-invalid`,
    )
    .action(async (inputs: string[], flags: ImportFlags) => {
      const { importCommand } = await import('./commands/import.js');
      await importCommand(inputs, flags);
    });
}

function addRunOptions(command: Command): Command {
  return command
    .option('--run <name>', 'name of the run (default: main, with --fast: fast)')
    .option('--seed <number>', 'seed of everything, instead of the one in the configuration', parseSeed)
    .option('--fast', 'smaller numbers everywhere: a smoke run of all steps')
    .option('--json', 'print one JSON event a line; the last line is the result');
}

function stepOption(flags: string, help: string): Option {
  return new Option(flags, help).choices(STEP_NAMES);
}

function parseSeed(text: string): number {
  const seed = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(seed)) {
    throw new InvalidArgumentError('A seed is a whole number from 0.');
  }
  return seed;
}
