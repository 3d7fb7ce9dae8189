import type { Reading } from '../reading.js';
import type { Colors } from './colors.js';

/** Files without attempts of their own that are named; the rest is counted. */
const NAMED = 5;
const RECORDS_NAMED = 20;

/** What was read, a line a file: format, passed and failed; what is excluded and left out, with reasons. */
export function readingText({ files, unread, verdicts }: Reading, colors: Colors): string {
  const lines: string[] = [];
  for (const { file, format, trajectories, passed, failed, excluded, leftOut, skipped } of files) {
    const left = leftOut > 0 ? colors.yellow(`, ${leftOut} records left out`) : '';
    const counts = `${trajectories} attempts: ${passed} passed, ${failed} failed`;
    lines.push(`${colors.dim(`${file}: ${format}, ${counts}`)}${left}`);
    for (const [reason, count] of Object.entries(excluded))
      lines.push(colors.dim(`  ${count} excluded: ${reason}`));
    for (const { record, reason } of skipped.slice(0, RECORDS_NAMED))
      lines.push(colors.yellow(`  record ${record}: ${reason}`));
    if (leftOut > Math.min(skipped.length, RECORDS_NAMED))
      lines.push(colors.yellow(`  and ${leftOut - Math.min(skipped.length, RECORDS_NAMED)} more`));
  }
  for (const { path, reason } of unread.slice(0, NAMED))
    lines.push(colors.yellow(`not read: ${path}: ${reason}`));
  if (unread.length > NAMED) lines.push(colors.yellow(`and ${unread.length - NAMED} more files not read`));
  if (verdicts) {
    const empty = verdicts.withoutVerdict > 0 ? `, ${verdicts.withoutVerdict} rows without one` : '';
    lines.push(colors.dim(`verdicts: ${verdicts.rows} rows, ${verdicts.unused} of no attempt read${empty}`));
  }
  return lines.map((line) => `${line}\n`).join('');
}
