#!/usr/bin/env node
import { CommanderError } from 'commander';
import { explainError, TraceError } from '../run/errors.js';
import { InvalidRecordError } from '../trajectory/store.js';
import { createProgram } from './program.js';
import { colorsFor } from './terminal/colors.js';

/**
 * Runs the command line and returns the exit code: 0 done, 1 the work failed, 2 wrong use or input.
 * @param args the words after the command's name.
 */
export async function main(args: readonly string[]): Promise<number> {
  const program = createProgram();
  const commands = [program, ...program.commands, ...program.commands.flatMap((command) => command.commands)];
  for (const command of commands) command.exitOverride();
  try {
    if (args.length === 0) {
      program.outputHelp();
      return 0;
    }
    await program.parseAsync(args, { from: 'user' });
    return typeof process.exitCode === 'number' ? process.exitCode : 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return printError(error, args.includes('--json'));
  }
}

/** Tells a person (and with `--json` a machine) what went wrong; returns the exit code. */
function printError(thrown: unknown, json: boolean): number {
  const error = explainError(thrown);
  const mend = error instanceof TraceError ? error.mend : undefined;
  const isInput = error instanceof InvalidRecordError;
  const exitCode = error instanceof TraceError ? error.exitCode : isInput ? 2 : 1;
  const colors = colorsFor(process.stderr);
  process.stderr.write(`${colors.red('error')} ${error.message}\n`);
  if (mend) process.stderr.write(`${colors.dim('→')} ${mend}\n`);
  if (process.env.TRACE_DEBUG === '1') {
    process.stderr.write(`${error.stack}\n`);
    if (error.cause instanceof Error) process.stderr.write(`caused by ${error.cause.stack}\n`);
  } else if (!(error instanceof TraceError) && !isInput) {
    process.stderr.write(`${colors.dim('→')} TRACE_DEBUG=1 shows where it happened.\n`);
  }
  if (json) {
    const failure = { message: error.message, mend: mend ?? null, exitCode };
    process.stdout.write(`${JSON.stringify({ type: 'result', ok: false, error: failure })}\n`);
  }
  return exitCode;
}

// A reader that goes away early (`trace … | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.on('uncaughtException', (error) => {
  process.exit(printError(error, process.argv.includes('--json')));
});

process.exitCode = await main(process.argv.slice(2));
