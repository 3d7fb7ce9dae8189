import type { DiagnosedCapability, Interval } from '../../analyst/capabilities-file.js';
import type { CaseView } from '../../report/case-view.js';
import type { DiagnosisView } from '../../report/diagnosis-view.js';
import { pValue } from '../../report/html.js';
import { type Finding, shortfall } from '../../report/verdict.js';
import type { Colors } from './colors.js';
import { formatPercent, padEnd, truncate } from './format.js';
import { matrixText } from './matrix-text.js';
import { markOf, planeText } from './plane-text.js';
import { safeLine, wrap } from './safe-text.js';

const NAME_WIDTH = 25;
/** From this width on the table has all its columns. */
const WIDE = 100;
/** Evidence shown for each capability, and failures listed; the page has all of it. */
const QUOTES = 2;
const LISTED = 12;

const SURE = { firm: '●●● firm', likely: '●●○ likely', lead: '●○○ a lead, no proof' } as const;

const interval = ([low, high]: Interval) => `[${Math.round(100 * low)}, ${Math.round(100 * high)}]`;

function row(capability: DiagnosedCapability, index: number, colors: Colors, wide: boolean): string {
  const { retained, kappa, kappaLow, stability, contribution, q } = capability;
  const mark = retained ? colors.green('✓') : colors.dim('·');
  const name = padEnd(truncate(safeLine(capability.name), NAME_WIDTH), NAME_WIDTH);
  const coverage = `${formatPercent(capability.coverage).padStart(7)} ${interval(capability.coverageInterval).padStart(9)}`;
  const gap = `${(100 * capability.gap).toFixed(1).padStart(6)} ${interval(capability.gapInterval).padStart(10)}`;
  const raters = `${capability.ratersPassed}/${capability.raters}`.padStart(6);
  const more = wide
    ? ` ${pValue(q).padStart(6)} ${(kappa === null ? '–' : kappa.toFixed(2)).padStart(5)}${kappaLow ? '!' : ' '}${`${Math.round(100 * stability)}%`.padStart(5)} ${String(contribution).padStart(4)}`
    : '';
  const text = `${coverage}  ${gap}  ${raters}${more}`;
  const number = markOf(index).padStart(2);
  return retained
    ? `${number} ${mark} ${colors.bold(name)} ${text}`
    : `${number} ${mark} ${colors.dim(`${name} ${text}`)}`;
}

function tableText({ file }: DiagnosisView, colors: Colors, wide: boolean): string[] {
  const { capabilities, settings } = file;
  const heads = `${'coverage % (95 %)'.padStart(17)}  ${'gap (95 %)'.padStart(17)}  raters${wide ? '      q     κ  stab. only' : ''}`;
  return [
    colors.dim(`     ${padEnd('candidate', NAME_WIDTH)} ${heads}`),
    ...capabilities.map((capability, i) => row(capability, i, colors, wide)),
    colors.dim(
      `     ✓ missing: coverage ≥ ${formatPercent(settings.coverage)}, gap ≥ ${Math.round(100 * settings.gap)} points, ${settings.ratersNeeded} of ${settings.raters} raters`,
    ),
    ...(wide
      ? [
          colors.dim(
            '     stab.: share of resamples with it; only: failures only it explains; κ!: raters disagree',
          ),
        ]
      : []),
  ];
}

function caseText(item: CaseView, colors: Colors, width: number): string[] {
  const { failed, passed, chosen } = item;
  const line = (side: string, id: string, message: number | undefined, why: string | undefined) =>
    `    ${side} ${truncate(safeLine(`${id}, message ${message ?? '–'}: ${why ?? ''}`), width - 12)}`;
  return [
    ...wrap(chosen, width - 4).map((text) => colors.dim(`    ${text}`)),
    line(colors.red('failed'), failed.attempt.id, failed.step.message, failed.step.why),
    ...(passed
      ? [line(colors.green('passed'), passed.trajectory.id, passed.step?.message, passed.step?.why)]
      : []),
  ];
}

function capabilityText(
  view: DiagnosisView,
  index: number,
  finding: Finding,
  colors: Colors,
  width: number,
): string[] {
  const capability = view.file.capabilities[index]!;
  const indented = (text: string, by = 2) =>
    wrap(safeLine(text), width - by).map((line) => `${' '.repeat(by)}${line}`);
  const shared = view.file.overlaps
    .filter(({ first, second, both }) => both > 0 && [first, second].includes(capability.name))
    .map(({ first, second, both }) => `${first === capability.name ? second : first} in ${both}`);
  return [
    '',
    `${colors.bold(`${markOf(index)} ${safeLine(capability.name, 80)}`)}  ${SURE[finding.strength]}`,
    ...indented(capability.definition),
    ...indented(finding.contrast),
    ...indented(finding.because).map(colors.dim),
    ...(shared.length > 0
      ? indented(`Its failures lack another candidate too: ${shared.slice(0, 3).join(', ')}.`).map(colors.dim)
      : []),
    ...capability.cautions.flatMap((caution) => indented(`! ${caution}`).map(colors.yellow)),
    ...capability.evidence
      .slice(0, QUOTES)
      .flatMap(({ trajectory, message, quote, note }) => [
        `  ${colors.cyan('›')} ${truncate(safeLine(quote), width - 4)}`,
        colors.dim(`    ${truncate(safeLine(`${note} (${trajectory}, message ${message})`), width - 4)}`),
      ]),
    ...view.cases
      .filter((item) => item.capability === index)
      .flatMap((item) => caseText(item, colors, width)),
  ];
}

function unexplainedText({ file }: DiagnosisView, colors: Colors, width: number): string[] {
  const { unexplained, explained } = file;
  if (explained.of === 0) return [];
  const ids = unexplained.slice(0, LISTED).map(({ id }) => safeLine(id, 60));
  const more = unexplained.length > LISTED ? [`and ${unexplained.length - LISTED} more`] : [];
  return [
    '',
    `${explained.failures} of ${explained.of} failures lack at least one missing capability; ${unexplained.length} stay unexplained.`,
    ...(ids.length > 0
      ? wrap([...ids, ...more].join(', '), width - 2).map((line) => colors.dim(`  ${line}`))
      : []),
  ];
}

function ratesText({ file }: DiagnosisView): string[] {
  if (!file.passRates) return [];
  const { passHat, passAt } = file.passRates;
  return passHat.map((rate, i) => {
    const any = passAt[i];
    return `  pass^${rate.k} ${formatPercent(rate.rate)} ${interval(rate.interval)}${any ? `, pass@${any.k} ${formatPercent(any.rate)} ${interval(any.interval)}` : ''}`;
  });
}

/**
 * A diagnosis for the terminal: what the page says, in its order, except that the answer and what to do come last,
 * where the eye is when the command has ended. Texts from logs are made safe.
 */
export function diagnosisText(view: DiagnosisView, colors: Colors, columns: number): string {
  const { file, verdict, next } = view;
  const width = Math.max(40, Math.min(columns, 110));
  const title = (text: string) => ['', colors.bold(text)];
  const lines: string[] = [];
  if (file.capabilities.length > 0) {
    lines.push(
      ...title('Coverage and gap'),
      ...planeText(file, colors),
      '',
      ...tableText(view, colors, width >= WIDE),
    );
    lines.push(...title('Every attempt'), ...matrixText(view, colors, width));
    lines.push(
      ...verdict.findings.flatMap((finding) =>
        capabilityText(view, finding.capability, finding, colors, width),
      ),
    );
    const others = file.capabilities.flatMap((capability) => {
      const short = shortfall(capability, file.settings);
      return short === null ? [] : [colors.dim(`  ${safeLine(capability.name, 60)}: ${short}`)];
    });
    if (others.length > 0) lines.push(...title('Not retained'), ...others);
  }
  lines.push(...unexplainedText(view, colors, width));
  const rates = ratesText(view);
  if (rates.length > 0) lines.push(...title('How steadily tasks pass'), ...rates);
  if (file.warnings.length > 0) {
    lines.push(...title('What the data cannot tell'));
    for (const warning of file.warnings)
      lines.push(...wrap(safeLine(warning), width - 2).map((line) => colors.yellow(`! ${line}`)));
  }
  lines.push('', ...wrap(verdict.headline, width).map(colors.bold), ...wrap(verdict.account, width));
  for (const { capability, name, strength } of verdict.findings)
    lines.push(
      `  ${markOf(capability)} ${padEnd(truncate(safeLine(name), NAME_WIDTH), NAME_WIDTH)} ${SURE[strength]}`,
    );
  lines.push(...title('What to do next'));
  for (const [i, { title: what, text, commands }] of next.entries()) {
    lines.push(`${i + 1}. ${safeLine(what)}`);
    lines.push(...wrap(safeLine(text), width - 3).map((line) => colors.dim(`   ${line}`)));
    lines.push(...commands.map((command) => `   ${colors.cyan(`$ ${safeLine(command)}`)}`));
  }
  return `${lines.join('\n')}\n`;
}
