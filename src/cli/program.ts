import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { CONFIG_NAMES } from '../config/load.js';
import { STEP_NAMES, type StepName } from '../run/events.js';
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

  program
    .command('doctor')
    .argument('[project]', 'folder with a trace.config.*; without one the machine alone is looked at')
    .description('what is missing on this machine, and how to mend it')
    .option('--json', 'print one JSON line')
    .action(async (project: string | undefined, flags: { json?: boolean }) => {
      const { doctorCommand } = await import('./commands/doctor.js');
      await doctorCommand(project, flags);
    });

  return program;
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

async function runStep(name: StepName, project: string, flags: RunFlags): Promise<void> {
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
    .option('--skip-invalid', 'of files: leave out records that cannot be read, and list them')
    .addHelpText(
      'after',
      `
Reads τ-bench and τ²-bench results and TRACE's own trajectories; needs no model and no key.

Examples:
  $ trace diagnose results.json
  $ trace diagnose retail.json airline.json --out diagnosis
  $ trace diagnose results.json --json
  $ trace diagnose examples/desk       the step of a project`,
    )
    .action(async (inputs: string[], flags: RunFlags & DiagnoseFlags) => {
      const [first = '.'] = inputs;
      if (inputs.length < 2 && !flags.importRaters && isProject(first))
        return runStep('diagnose', first, flags);
      const { diagnoseFiles } = await import('./diagnose.js');
      return diagnoseFiles(inputs, flags);
    });
}

/** A configuration file, or a folder; a folder with results.json is a result of τ²-bench. */
function isProject(path: string): boolean {
  if (CONFIG_NAMES.some((name) => name === basename(path))) return true;
  return existsSync(path) && statSync(path).isDirectory() && !existsSync(join(path, 'results.json'));
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
