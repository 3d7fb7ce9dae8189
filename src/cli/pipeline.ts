import { ROLLOUT_DEFAULTS } from '../agent/rollout-step.js';
import { analystIdentity, analystSettings, openRaters } from '../analyst/open.js';
import { COMPOSITION_DEFAULTS } from '../composition/options.js';
import { capSettings } from '../config/fast.js';
import type { TraceConfig } from '../config/schema.js';
import { diagnosisSettings } from '../diagnosis/settings.js';
import { EVALUATION_DEFAULTS } from '../evaluation/options.js';
import { InputError } from '../run/errors.js';
import type { Journal, RolloutRecord } from '../run/journal.js';
import { runPaths } from '../run/paths.js';
import type { Step } from '../run/pipeline.js';
import type { StepContext } from '../run/step.js';
import { SYNTHESIS_DEFAULTS } from '../synthesis/options.js';
import { GRPO_DEFAULTS } from '../training/settings.js';
import type { Session } from './session.js';

export interface PipelineInput {
  readonly config: TraceConfig;
  readonly fast: boolean;
  /** What every step depends on (`commonSettings`). */
  readonly common: { readonly [key: string]: unknown };
  readonly session: Session;
  readonly journal: Journal;
  /** The project's folder, absolute; absent: the current one. */
  readonly project?: string;
}

/** A step without the settings that all share. */
interface Room<Options extends object> extends Pick<Step, 'name' | 'title' | 'outputs'> {
  readonly options: Options;
  run(context: StepContext, options: Options): Promise<string>;
}

/**
 * The steps of a run in their order: each room's defaults, what the configuration says instead, with `--fast` its
 * caps. Rooms are loaded when their step begins.
 */
export function buildSteps({
  config,
  fast,
  common,
  session,
  journal,
  project = process.cwd(),
}: PipelineInput): Step[] {
  const step = <Options extends object>({ name, title, outputs, options, run }: Room<Options>): Step => {
    const used = fast && name !== 'report' ? capSettings(options, name) : options;
    return {
      name,
      title,
      outputs,
      settings: { ...common, options: used },
      run: (context) => run(context, used),
    };
  };
  const grpo = { ...GRPO_DEFAULTS, ...config.train };
  const target = () => session.target();
  const engine = () => session.engine();
  const analyst = analystSettings(config.analyst);
  const identity = analystIdentity(analyst, project);

  return [
    step({
      name: 'rollout',
      title: 'the base model tries the training tasks',
      outputs: ['trajectories'],
      options: { ...ROLLOUT_DEFAULTS, ...config.rollout },
      run: async (context, options) => {
        const { runRolloutStep } = await import('../agent/rollout-step.js');
        const found = await runRolloutStep(context, options, {
          engine: await engine(),
          target: await target(),
        });
        await indexRollouts(journal, context.folder);
        const { rollouts, tasks, passed, failed, excluded } = found;
        const broken = excluded > 0 ? `, ${excluded} broken` : '';
        return `${rollouts} attempts at ${tasks} tasks: ${passed} passed, ${failed} failed${broken}`;
      },
    }),
    step({
      name: 'diagnose',
      title: 'step 1 · which capabilities are missing',
      outputs: ['diagnosis'],
      options: {
        ...checked('diagnose', () => diagnosisSettings(config.diagnose)),
        ...(identity === null ? {} : { analyst: identity }),
      },
      run: async (context, options) => {
        const { diagnosisSummary, runDiagnosis } = await import('../diagnosis/step.js');
        const raters = await openRaters(analyst, {
          seed: context.seed,
          journal,
          project,
          handoff: runPaths.handoff(context.folder),
          resume: 'the same command again',
          environment: process.env,
          signal: context.signal,
        });
        const found = await runDiagnosis(context, options, { analyst: raters });
        const { writeDiagnosisReport } = await import('../report/report-step.js');
        await writeDiagnosisReport(context.folder);
        return diagnosisSummary(found);
      },
    }),
    step({
      name: 'synthesize',
      title: 'step 2 · one verifiable environment per capability',
      outputs: ['environments'],
      options: { ...SYNTHESIS_DEFAULTS, ...config.synthesize },
      run: async (context, options) => {
        const { runSynthesis, synthesisSummary } = await import('../synthesis/synthesis-step.js');
        const { offlineAuthor } = await import('../analyst/offline/archetypes/offline-author.js');
        const deps = { engine: await engine(), target: await target(), analyst: offlineAuthor };
        return synthesisSummary(await runSynthesis(context, options, deps));
      },
    }),
    step({
      name: 'train',
      title: 'step 3 · one LoRA adapter per capability',
      outputs: ['adapters'],
      options: grpo,
      run: async (context, options) => {
        const { runTraining } = await import('../training/train-step.js');
        const adapters = await runTraining(context, options, { engine: await engine() });
        const rollouts = adapters.reduce((sum, adapter) => sum + adapter.rollouts, 0);
        const rates = adapters.map(({ best, lastSuccess }) => (best?.success ?? lastSuccess).toFixed(2));
        return `${adapters.length} adapters, ${rollouts} rollouts; success on held-out scenarios ${rates.join(', ')}`;
      },
    }),
    step({
      name: 'compose',
      title: 'step 4 · token gates over the frozen adapters',
      outputs: ['composed'],
      options: { ...COMPOSITION_DEFAULTS, ...config.compose },
      run: async (context, options) => {
        const { runComposition } = await import('../composition/composition-step.js');
        const { slots, gateParameters, rollouts } = await runComposition(context, options, {
          engine: await engine(),
        });
        return `mixture of ${slots.length} adapters, ${gateParameters} gate parameters, ${rollouts} rollouts`;
      },
    }),
    step({
      name: 'baselines',
      title: 'what the mixture is compared with, at equal rollouts',
      outputs: ['baselines'],
      options: { ...(fast ? capSettings(grpo, 'train') : grpo), ...config.baselines },
      run: async (context, options) => {
        const { runBaselinesStep } = await import('../training/baselines-step.js');
        const { summaries } = await runBaselinesStep(context, options, {
          engine: await engine(),
          target: await target(),
        });
        const parts = summaries.map(({ name, rollouts }) => `${name} ${rollouts} rollouts`);
        return parts.length === 0 ? 'none asked for' : parts.join(', ');
      },
    }),
    step({
      name: 'evaluate',
      title: 'all systems on held-out tasks',
      outputs: ['evaluation.json', 'evaluation'],
      options: { ...EVALUATION_DEFAULTS, ...config.evaluate },
      run: async (context, options) => {
        const { runEvaluation } = await import('../evaluation/evaluation-step.js');
        const { systems } = await runEvaluation(context, options, {
          engine: await engine(),
          target: await target(),
        });
        const names = new Set(systems.map((system) => system.name));
        return `${names.size} systems on ${options.tasks} tasks of ${options.splits.join(' and ')}`;
      },
    }),
    step({
      name: 'report',
      title: 'the run on one page',
      outputs: ['report.html'],
      options: {},
      run: async (context) => {
        const { runReport } = await import('../report/report-step.js');
        await runReport(context);
        return 'report.html';
      },
    }),
  ];
}

/** Settings that a room refuses are the configuration's mistake. @throws InputError */
function checked<T>(section: string, settings: () => T): T {
  try {
    return settings();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InputError(`${section}: ${error.message}`, 'Mend it in the configuration file.');
  }
}

/** Puts the base model's attempts into the journal's index, so that `trace status` can count them. */
async function indexRollouts(journal: Journal, folder: string): Promise<void> {
  const { readTrajectories } = await import('../trajectory/store.js');
  const records: RolloutRecord[] = [];
  for await (const trajectory of readTrajectories(runPaths.baseTrajectories(folder)))
    records.push(trajectory);
  journal.indexRollouts('rollout', records);
}
