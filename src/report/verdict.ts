import type { CapabilitiesFile, DiagnosedCapability, Interval } from '../analyst/capabilities-file.js';
import { pValue } from './html.js';

/**
 * How sure a finding is. `firm`: q ≤ 0.05, the whole interval of the gap above 0, retained in 80 % of the resamples
 * or more, raters that agree (κ ≥ 0.4). `likely`: one of these is missing. `lead`: two or more are.
 */
export type Strength = 'firm' | 'likely' | 'lead';

export const SURE_Q = 0.05;
export const SURE_STABILITY = 0.8;

/** A retained capability in plain words. */
export interface Finding {
  /** Index in the file. */
  readonly capability: number;
  readonly name: string;
  readonly strength: Strength;
  /** How often failed and passed attempts lack it. */
  readonly contrast: string;
  /** Why it is as sure as it is. */
  readonly because: string;
}

/** The answer in plain words; the same in the page, in the terminal and as JSON. */
export interface Verdict {
  readonly headline: string;
  /** What the findings account for, and what they do not. */
  readonly account: string;
  /** The surest first. */
  readonly findings: readonly Finding[];
}

const NUMBERS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];
const number = (n: number) => NUMBERS[n] ?? String(n);

/** An interval of shares in whole percent: `24–48 %`. */
export const range = ([low, high]: Interval) => `${whole(low)}–${whole(high)} %`;
/** An interval of differences in whole points: `−7 to 59`. */
export const pointRange = ([low, high]: Interval) => `${whole(low)} to ${whole(high)}`;
const whole = (share: number) => {
  const value = Math.round(100 * share);
  return value < 0 ? `−${-value}` : String(value);
};

/** What speaks for a capability and what against; the weak points decide how sure it is. */
export function strengthOf(capability: DiagnosedCapability): {
  readonly strength: Strength;
  readonly because: string;
} {
  const { q, gapInterval, stability, kappaLow, kappa, lackingPassed, presentPassed } = capability;
  const needed = lackingPassed + presentPassed;
  const weak: string[] = [];
  const good: string[] = [];
  const say = (holds: boolean, yes: string, no: string) => (holds ? good.push(yes) : weak.push(no));
  say(
    q <= SURE_Q,
    `chance alone would hardly do this (q ${q < 0.001 ? '< 0.001' : pValue(q)})`,
    `chance could do this (q ${pValue(q)})`,
  );
  say(
    gapInterval[0] > 0,
    `the gap’s interval stays above 0 (${pointRange(gapInterval)} points)`,
    `the gap’s interval (${pointRange(gapInterval)} points) reaches 0${needed < 10 ? `: only ${needed} passed attempts need it` : ''}`,
  );
  say(
    stability >= SURE_STABILITY,
    `it is found in ${whole(stability)} % of the resamples`,
    `it is found in only ${whole(stability)} % of the resamples`,
  );
  if (kappaLow) weak.push(`raters disagree (κ ${kappa?.toFixed(2) ?? 'unknown'})`);
  const text = (parts: readonly string[]) => parts.join('; ');
  if (weak.length === 0) return { strength: 'firm', because: sentence(text(good)) };
  const but = good.length > 0 ? `${text(good)}; but ${text(weak)}` : text(weak);
  return { strength: weak.length === 1 ? 'likely' : 'lead', because: sentence(but) };
}

const sentence = (text: string) => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`;

function contrastOf(capability: DiagnosedCapability): string {
  const { lackingFailed, presentFailed, lackingPassed, presentPassed } = capability;
  const failed = lackingFailed + presentFailed;
  const passed = lackingPassed + presentPassed;
  const against =
    passed === 0 ? 'no passed one needed it' : `${lackingPassed} of ${passed} passed ones that needed it`;
  return `${lackingFailed} of ${failed} failed attempts that needed it lack it; ${against}.`;
}

const plural = (n: number, one: string) => `${n} ${one}${n === 1 ? '' : 's'}`;

function headlineOf(file: CapabilitiesFile, findings: readonly Finding[]): string {
  const { trajectories, capabilities } = file;
  if (trajectories.failed + trajectories.passed === 0)
    return 'Nothing to diagnose: no attempt has a verdict.';
  if (trajectories.failed === 0) return 'No attempt failed: nothing is missing here.';
  const n = findings.length;
  if (n === 0)
    return capabilities.length === 0
      ? 'The failures show no capability that could be named.'
      : 'No capability stands out as missing.';
  const of = (wanted: Strength) => findings.filter(({ strength }) => strength === wanted).length;
  const [firm, likely, lead] = [of('firm'), of('likely'), of('lead')];
  if (n === 1) {
    if (firm === 1) return 'One capability is missing, and that is firm.';
    return likely === 1
      ? 'One capability is likely missing.'
      : 'One capability may be missing: a lead, no proof.';
  }
  if (likely === n) return `${number(n)} capabilities are likely missing.`;
  if (lead === n) return `${number(n)} capabilities may be missing: leads, no proof.`;
  if (firm === n) return `${number(n)} capabilities are missing, and all are firm.`;
  const parts = [
    firm > 0 && `${number(firm).toLowerCase()} firm`,
    likely > 0 && `${number(likely).toLowerCase()} likely`,
    lead > 0 && (lead === 1 ? 'one a lead' : `${number(lead).toLowerCase()} leads`),
  ].filter((part) => part !== false);
  return `${number(n)} capabilities are missing: ${parts.join(', ')}.`;
}

function accountOf({ trajectories, explained, capabilities, unexplained }: CapabilitiesFile): string {
  const { failed, passed, excluded } = trajectories;
  const left = excluded > 0 ? ` ${plural(excluded, 'attempt')} without a verdict left out.` : '';
  if (failed + passed === 0) return left.trim();
  if (failed === 0) return `${plural(passed, 'attempt')} passed.${left}`;
  const against = `${failed} failed against ${passed} passed attempts.`;
  if (!capabilities.some(({ retained }) => retained))
    return `${against} All ${plural(unexplained.length, 'failure')} stay unexplained.${left}`;
  const share = `${whole(explained.share)} %, 95 % interval ${range(explained.interval)}`;
  const rest = explained.of - explained.failures;
  return `${against} The missing capabilities account for ${explained.failures} of the ${explained.of} failures (${share}); ${
    rest === 0 ? 'none stays' : rest === 1 ? '1 stays' : `${rest} stay`
  } unexplained.${left}`;
}

/** What is missing and how sure that is, in plain words. */
export function verdictOf(file: CapabilitiesFile): Verdict {
  const findings = file.capabilities.flatMap((capability, i): Finding[] =>
    capability.retained
      ? [
          {
            capability: i,
            name: capability.name,
            contrast: contrastOf(capability),
            ...strengthOf(capability),
          },
        ]
      : [],
  );
  const rank = { firm: 0, likely: 1, lead: 2 } as const;
  findings.sort((a, b) => rank[a.strength] - rank[b.strength] || a.capability - b.capability);
  return { headline: headlineOf(file, findings), account: accountOf(file), findings };
}

/** Why a candidate was not retained, in a few words; null for a retained one. */
export function shortfall(
  capability: DiagnosedCapability,
  settings: CapabilitiesFile['settings'],
): string | null {
  if (capability.retained) return null;
  const { mean_cov: coverage, mean_delta: gap, ratersPassed, raters } = capability;
  const percent = (share: number) => (100 * share).toFixed(1).replace('-', '−');
  if (coverage < settings.coverage)
    return `coverage ${percent(coverage)} % is below ${percent(settings.coverage)} %`;
  if (gap < settings.gap) return `gap of ${percent(gap)} points is below ${percent(settings.gap)}`;
  return `${ratersPassed} of ${raters} raters, ${settings.ratersNeeded} needed`;
}
