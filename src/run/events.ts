/**
 * What happens in a run, as data. Steps emit, and know nothing of who listens: the terminal draws bars, `--json`
 * prints lines, the studio draws curves. Events never enter the compared files of a workspace.
 */
export const STEP_NAMES = [
  'rollout',
  'diagnose',
  'synthesize',
  'train',
  'compose',
  'baselines',
  'evaluate',
  'report',
] as const;

export type StepName = (typeof STEP_NAMES)[number];

export type RunEvent =
  | { readonly type: 'step:start'; readonly step: StepName; readonly title: string }
  /** `resumed`: the step was finished in an earlier process and its files stand. */
  | {
      readonly type: 'step:end';
      readonly step: StepName;
      readonly summary: string;
      readonly resumed?: boolean;
    }
  | {
      readonly type: 'progress';
      readonly step: StepName;
      /** What is being worked on, such as a capability or a system. */
      readonly task: string;
      readonly done: number;
      readonly total: number;
      /** What `done` counts: rollouts, iterations, tasks. */
      readonly unit: string;
      /** A few words on how it stands, such as `reward 0.41`. */
      readonly note?: string;
    }
  | {
      readonly type: 'curve';
      readonly step: StepName;
      readonly task: string;
      readonly name: string;
      readonly x: number;
      readonly y: number;
    }
  | {
      readonly type: 'message';
      readonly step: StepName | null;
      readonly level: 'info' | 'warning' | 'error';
      readonly text: string;
    };

export type EventSink = (event: RunEvent) => void;
