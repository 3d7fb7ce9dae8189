import type { CapabilitiesFile, DiagnosedCapability } from '../../analyst/capabilities-file.js';
import type { Colors } from './colors.js';
import { formatPercent, padEnd, truncate } from './format.js';

const NAME_WIDTH = 30;
/** Evidence shown for each capability; the report has all of it. */
const QUOTES = 2;

const interval = ([low, high]: readonly [number, number]) =>
  `[${Math.round(100 * low)}, ${Math.round(100 * high)}]`;

/** Words broken into lines of at most `width` cells. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}

function row(capability: DiagnosedCapability, colors: Colors): string {
  const mark = capability.retained ? colors.green('✓') : colors.dim('·');
  const name = padEnd(truncate(capability.name, NAME_WIDTH), NAME_WIDTH);
  const coverage = `${formatPercent(capability.coverage).padStart(7)} ${interval(capability.coverageInterval).padStart(9)}`;
  const gap = `${(100 * capability.gap).toFixed(1).padStart(6)} ${interval(capability.gapInterval).padStart(10)}`;
  const raters = `${capability.ratersPassed}/${capability.raters}`.padStart(6);
  const text = `${coverage}  ${gap}  ${raters}`;
  return `${mark} ${capability.retained ? colors.bold(name) : colors.dim(name)} ${capability.retained ? text : colors.dim(text)}`;
}

/** A diagnosis for the terminal: the table of candidates, then what is missing with its evidence. */
export function diagnosisText(result: CapabilitiesFile, colors: Colors, columns: number): string {
  const { trajectories, capabilities, unexplained, settings, warnings } = result;
  const width = Math.max(40, Math.min(columns, 110));
  const lines: string[] = [''];
  const excluded = trajectories.excluded > 0 ? `, ${trajectories.excluded} left out` : '';
  lines.push(
    `${colors.bold(`${trajectories.failed} failed`)} against ${colors.bold(`${trajectories.passed} passed`)} attempts${excluded}`,
  );
  for (const warning of warnings)
    lines.push(...wrap(warning, width - 2).map((line) => colors.yellow(`! ${line}`)));
  if (capabilities.length > 0) {
    lines.push('');
    lines.push(
      colors.dim(
        `  ${padEnd('candidate', NAME_WIDTH)} ${'coverage % (95 %)'.padStart(17)}  ${'gap (95 %)'.padStart(17)}  raters`,
      ),
    );
    for (const capability of capabilities) lines.push(row(capability, colors));
    lines.push(
      colors.dim(
        `  retained: coverage ≥ ${formatPercent(settings.coverage)}, gap ≥ ${Math.round(100 * settings.gap)} points, ${settings.ratersNeeded} of ${settings.raters} raters`,
      ),
    );
  }
  const missing = capabilities.filter((capability) => capability.retained);
  for (const capability of missing) {
    lines.push('', colors.bold(capability.name));
    lines.push(...wrap(capability.definition, width - 2).map((line) => `  ${line}`));
    for (const { trajectory, message, quote, note } of capability.evidence.slice(0, QUOTES)) {
      lines.push(`  ${colors.cyan('›')} ${truncate(quote.replace(/\s+/g, ' '), width - 4)}`);
      lines.push(colors.dim(`    ${truncate(`${note} (${trajectory}, message ${message})`, width - 4)}`));
    }
  }
  if (trajectories.failed > 0) {
    const explained = trajectories.failed - unexplained.length;
    const verdict =
      missing.length === 0
        ? 'Nothing found that is missing.'
        : `${explained} of ${trajectories.failed} failures lack at least one of these; ${unexplained.length} stay unexplained.`;
    lines.push('', verdict);
  }
  return `${lines.join('\n')}\n`;
}
