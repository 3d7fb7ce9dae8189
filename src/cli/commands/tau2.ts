import type { Command } from 'commander';
import type { Replay } from '../../targets/tau2/replay.js';
import type { Verification } from '../../targets/tau2/verify.js';

/** `trace tau2 …`: how true the τ²-bench target is to the benchmark. */
export function addTau2Command(program: Command): void {
  const tau2 = program
    .command('tau2')
    .description('check the τ²-bench target against recorded values of the benchmark');
  tau2
    .command('verify')
    .description('compare database hashes and tool outputs after the golden actions with recorded ones')
    .requiredOption('--data <folder>', "the benchmark's `data` folder, from your own checkout")
    .requiredOption('--hashes <file>', 'recorded hashes, by domain and task')
    .option('--outputs <file>', 'recorded outputs of the golden actions')
    .option('--json', 'print one JSON line')
    .action(async (flags: VerifyFlags) => {
      if (!(await verifyCommand(flags))) process.exitCode = 1;
    });
  tau2
    .command('replay')
    .argument('<results...>', 'files or folders that `tau2 run` wrote')
    .description('make every recorded tool call again and judge every simulation anew')
    .requiredOption('--data <folder>', "the benchmark's `data` folder, from your own checkout")
    .option('--json', 'print one JSON line')
    .action(async (files: string[], flags: ReplayFlags) => {
      if (!(await replayCommand(files, flags))) process.exitCode = 1;
    });
}

/** Options of `trace tau2 verify`. */
export interface VerifyFlags {
  readonly data: string;
  readonly hashes: string;
  readonly outputs?: string;
  readonly json?: boolean;
}

/**
 * `trace tau2 verify`: compares our database hashes and tool outputs with recorded ones, a line a domain.
 * @returns false where anything differs.
 */
export async function verifyCommand(
  flags: VerifyFlags,
  print: (line: string) => void = console.log,
): Promise<boolean> {
  const { verify } = await import('../../targets/tau2/verify.js');
  const results = verify(flags.data, flags.hashes, flags.outputs);
  if (flags.json) print(JSON.stringify({ type: 'result', command: 'tau2 verify', domains: results }));
  else for (const result of results) print(verifyLine(result));
  const first = results.find((result) => result.difference !== null);
  if (first && !flags.json) print(`\nFirst difference: ${first.difference as string}`);
  return first === undefined;
}

function verifyLine({ domain, hashes, outputs, absent }: Verification): string {
  const counted = [
    `${hashes.equal}/${hashes.total} hashes`,
    ...(outputs ? [`${outputs.equal}/${outputs.total} outputs`] : []),
  ];
  const missing =
    absent.length === 0
      ? ''
      : ` (${absent.length} ${absent.length === 1 ? 'task is' : 'tasks are'} not in the data, such as ${absent[0]})`;
  return `${domain} ${counted.join(', ')}${missing}`;
}

/** Options of `trace tau2 replay`. */
export interface ReplayFlags {
  readonly data: string;
  readonly json?: boolean;
}

/**
 * `trace tau2 replay`: makes every recorded tool call again and judges every simulation anew, a line a file.
 * @returns false where anything differs.
 */
export async function replayCommand(
  files: readonly string[],
  flags: ReplayFlags,
  print: (line: string) => void = console.log,
): Promise<boolean> {
  const { replay } = await import('../../targets/tau2/replay.js');
  const results = replay(flags.data, files);
  if (flags.json)
    print(
      JSON.stringify({
        type: 'result',
        command: 'tau2 replay',
        files: results.map((result) => ({ ...result, parts: Object.fromEntries(result.parts) })),
      }),
    );
  else for (const result of results) print(replayLine(result));
  const [first] = results.flatMap((result) => result.differences);
  if (first !== undefined && !flags.json) print(`\nFirst difference: ${first}`);
  return first === undefined;
}

function replayLine({ file, domain, simulations, calls, ...result }: Replay): string {
  const share = ({ equal, total }: { equal: number; total: number }) => `${equal}/${total}`;
  const parts = [...result.parts].map(([name, part]) => `${name} ${share(part)}`).join(', ');
  return [
    `${file}: ${domain ?? 'no tool calls'}, ${simulations} simulation${simulations === 1 ? '' : 's'}`,
    `  calls ${calls.equal} equal, ${calls.different} different, ${calls.skipped} skipped`,
    `  db_match ${share(result.dbMatch)} reproduced, rewards ${share(result.rewards)} reproduced` +
      (parts ? ` (${parts})` : '') +
      (result.notJudged > 0 ? `, ${result.notJudged} without a recorded verdict` : ''),
  ].join('\n');
}
