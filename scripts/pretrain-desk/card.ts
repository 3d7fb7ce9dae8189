import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelConfig } from '../../src/engine/local/model/config.js';
import { countParameters } from '../../src/engine/local/model/config.js';
import { wilson } from '../../src/statistics/proportion.js';
import { DESK_CAPABILITIES } from '../../src/targets/desk/scenario.js';
import type { Behaviour } from './measure.js';
import type { Phase } from './train.js';

/** Behaviour of one model on one split. */
export interface Measurement {
  readonly model: 'competent' | 'with deficits';
  readonly split: string;
  readonly temperature: number;
  readonly behaviour: Behaviour;
}

const percent = (share: number): string => (100 * share).toFixed(1);

/** A Markdown table of measurements; intervals are Wilson's at 95 %. */
export function measurementTable(measurements: readonly Measurement[]): string {
  const head = [
    'model',
    'split',
    'T',
    'passed, %',
    ...DESK_CAPABILITIES,
    'copy errors, %',
    'format errors, %',
  ];
  const rows = measurements.map(({ model, split, temperature, behaviour: b }) => {
    const [low, high] = wilson(b.passed, b.episodes);
    return [
      model,
      `${split} (${b.episodes})`,
      temperature,
      `${percent(b.passed / b.episodes)} [${percent(low)}, ${percent(high)}]`,
      ...DESK_CAPABILITIES.map((c) => {
        const { right, of } = b.decisions[c];
        return of === 0 ? '–' : `${(right / of).toFixed(2)} (${of})`;
      }),
      percent(b.copyErrors / b.episodes),
      percent(b.formatErrors / b.episodes),
    ];
  });
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** SHA-256 of a file in hexadecimal. */
export const checksum = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex');

export interface CardInput {
  readonly config: ModelConfig;
  readonly folder: string;
  readonly seed: number;
  readonly phases: readonly Phase[];
  readonly measurements: readonly Measurement[];
}

/** The model card, written from what was run and measured. */
export function modelCard({ config, folder, seed, phases, measurements }: CardInput): string {
  const mix = (phase: Phase) =>
    Object.entries(phase.mix)
      .map(([kind, share]) => `${kind} ${share}`)
      .join(', ');
  const schedule = phases.map(
    (p) =>
      `| ${p.name} | ${(p.tokens / 1e6).toFixed(2)} | ${p.batch} | ${mix(p)} | ${p.rate.join(' → ')} | ${Object.values(p.episodes.rates).join(' / ')} |`,
  );
  const parameters = countParameters(config).toLocaleString('en-US');
  return `---
license: mit
library_name: transformers
pipeline_tag: text-generation
---
# desk-base

The base model of TRACE's embedded target \`desk\`: a decoder of the Qwen3 family with ${parameters} parameters
(hidden ${config.hiddenSize}, ${config.layers} layers, ${config.heads} query and ${config.kvHeads} key/value heads of ${config.headDim}, feed-forward ${config.intermediateSize}, tied head, vocabulary ${config.vocabularySize}, context ${config.context}).
It knows the desk's tools, policy and manner of speech, and lacks four capabilities on purpose: it is what TRACE
diagnoses and repairs when it is tried for the first time. It is good for nothing else.

## How it was made

\`npm run pretrain:desk\`, from random weights (seed ${seed}), on two CPU cores, by the engine in \`src/engine/local\`. Nothing was
trained elsewhere or by hand. The same command gives the same bytes on the same kind of machine.

1. Weights are drawn at random and arranged so that attention starts near an induction head (\`scripts/pretrain-desk/initialization.ts\`).
2. It learns recall, then the competent demonstrator of \`src/targets/desk/demonstrator.ts\` in episodes of widely varying shapes.
3. It goes on with a demonstrator that decides rightly only with the probabilities in the last column: the planted deficits.

| phase | tokens, millions | tokens a step | shares of tokens | learning rate | right selection / precondition / completion / arguments |
| --- | --- | --- | --- | --- | --- |
${schedule.join('\n')}

AdamW (β 0.9, 0.95; no weight decay), gradient norm clipped at 1, cross-entropy on the assistant's tokens. In one
episode of ten the prompt has guidance for some capabilities, and the demonstrator is then likelier to have them.

## Measured

\`npm run pretrain:desk -- --evaluate\`. Columns of capabilities: share of right decisions where a careless agent goes wrong, and
their number. Copy errors: episodes with a call of something that does not exist or is not meant. Format errors: episodes that
did not end by the agent's report. "Competent" is the model before deficits were planted.

${measurementTable(measurements)}

SHA-256 of \`model.safetensors\`: \`${checksum(join(folder, 'model.safetensors'))}\`

## Text form

The tokenizer has one token for each id (\`k00\` … \`k99\`), product, variant, payment, address, phrase and JSON skeleton of the desk,
and single characters for anything else. The chat template leaves tool schemas out: the model knows its tools.
`;
}
