import type { CapabilitiesFile } from '../analyst/capabilities-file.js';
import { brief, MOST } from './cut.js';
import type { DiagnosisOrigin } from './diagnosis-origin.js';
import { words } from './html.js';
import type { Verdict } from './verdict.js';

/** One thing to do, with the commands that do it. */
export interface NextStep {
  readonly title: string;
  readonly text: string;
  readonly commands: readonly string[];
}

/** Fewer attempts of a kind leave wide intervals. */
const FEW = 20;
/** A larger share of failures without a cause is worth a look of its own. */
const MUCH_UNEXPLAINED = 0.25;

const plural = (n: number, one: string) => `${n} ${one}${n === 1 ? '' : 's'}`;

function checkByHand(file: CapabilitiesFile, verdict: Verdict): NextStep | null {
  const [first] = verdict.findings;
  if (!first) return null;
  const quotes = file.capabilities[first.capability]!.evidence.length;
  return {
    title: `Check “${brief(words(first.name), MOST.name)}” by hand first`,
    text: `Read its ${plural(quotes, 'quote')} and the failed attempt beside the passed one. Where you would judge otherwise, so may the numbers.`,
    commands: [],
  };
}

function moreData(file: CapabilitiesFile, verdict: Verdict, origin: DiagnosisOrigin): NextStep | null {
  const { passed, failed } = file.trajectories;
  const unsure = verdict.findings.filter(({ strength }) => strength !== 'firm');
  if (failed + passed === 0)
    return {
      title: 'Bring attempts with a verdict',
      text: 'Failed and passed attempts are contrasted: each needs a reward, a score or a label beside its messages.',
      commands: origin.more,
    };
  if (failed === 0 || passed === 0)
    return {
      title: failed === 0 ? 'Bring failed attempts' : 'Bring passed attempts',
      text: 'A capability shows in the contrast of failed with passed attempts; one kind alone tells little. Harder or easier tasks, or more trials of the same ones, bring the other kind.',
      commands: origin.more,
    };
  if (unsure.length === 0 && Math.min(passed, failed) >= FEW) return null;
  const names = unsure.map(({ name }) => brief(words(name), MOST.name)).join(', ');
  const why =
    unsure.length > 0
      ? `Not settled yet: ${names}.`
      : `${failed} failed and ${passed} passed attempts leave wide intervals.`;
  return {
    title: 'Run more attempts where it is not sure',
    text: `${why} Other tasks help most, then more trials of the same tasks. Diagnose all files together.`,
    commands: origin.more,
  };
}

function unexplained(file: CapabilitiesFile): NextStep | null {
  const { failed } = file.trajectories;
  const n = file.unexplained.length;
  if (failed === 0 || n === 0 || n / failed < MUCH_UNEXPLAINED) return null;
  const tasks = new Map<string, number>();
  for (const { task } of file.unexplained) tasks.set(task, (tasks.get(task) ?? 0) + 1);
  const most = [...tasks].sort((a, b) => b[1] - a[1]).slice(0, 3);
  const named = most.map(([task, times]) => `${brief(task, 40)} (${times})`).join(', ');
  return {
    title: `Read some of the ${plural(n, 'unexplained failure')}`,
    text: `None of the missing capabilities shows in them. Tasks with the most: ${named}. A wrong verifier or a broken tool looks like this, too.`,
    commands: [],
  };
}

/** Detectors share one code and one blind spot; readers do not. */
function secondOpinion(file: CapabilitiesFile, verdict: Verdict, origin: DiagnosisOrigin): NextStep | null {
  const { failed } = file.trajectories;
  if (failed === 0 || file.settings.analyst !== 'offline') return null;
  const isSettled =
    file.unexplained.length / failed < MUCH_UNEXPLAINED &&
    verdict.findings.every(({ strength }) => strength === 'firm');
  if (isSettled) return null;
  return {
    title: 'Let a model or a person read them',
    text: 'The offline detectors compare calls with a reference; raters that read find what is not in it, and disagree where a definition is loose.',
    commands: origin.read,
  };
}

function mend(verdict: Verdict, origin: DiagnosisOrigin): NextStep | null {
  const ready = verdict.findings.filter(({ strength }) => strength !== 'lead');
  const chosen = ready.length > 0 ? ready : verdict.findings;
  if (chosen.length === 0) return null;
  const names = chosen.map(({ name }) => brief(words(name), MOST.name)).join(', ');
  const by = ready.length > 0 ? '' : ' (leads only: check them first)';
  if (origin.ofRun)
    return {
      title: 'Train what is missing',
      text: `One environment and one adapter for each: ${names}${by}.`,
      commands: origin.train,
    };
  return {
    title: 'Train what is missing',
    text: `Describe the agent’s tools in a project; a run builds one environment and trains one adapter for each: ${names}${by}. Prompts and tool descriptions are worth a try before.`,
    commands: origin.train,
  };
}

/** What to do now, most useful first. */
export function nextSteps(file: CapabilitiesFile, verdict: Verdict, origin: DiagnosisOrigin): NextStep[] {
  const steps = [
    checkByHand(file, verdict),
    mend(verdict, origin),
    moreData(file, verdict, origin),
    secondOpinion(file, verdict, origin),
    unexplained(file),
  ].filter((step) => step !== null);
  if (steps.length > 0) return steps;
  return [
    {
      title: 'Nothing to do',
      text: 'Every failure is accounted for, or none occurred. Harder tasks would show what comes next.',
      commands: origin.more,
    },
  ];
}
