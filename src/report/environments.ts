import type { EnvironmentFile } from './files.js';
import { count, type Html, html, percent, words } from './html.js';
import { markdown } from './markdown.js';

/** A card for each environment: its text, calibration on the base model, and checks. */
export function environmentsSection(environments: readonly EnvironmentFile[]): Html | null {
  if (environments.length === 0) return null;
  return html`<section id="environments"><h2>Synthetic environments</h2>
<p class="lead">One for each missing capability: procedural, verified by algorithm, in the target’s own format, with none of its tasks. The figures are the base model’s.</p>
<div class="grid">${environments.map(environmentCard)}</div></section>`;
}

function environmentCard({ name, card, calibration, checks }: EnvironmentFile): Html {
  const passed = checks?.checks.filter((check) => check.passed).length;
  return html`<div class="card"><h3>${words(name)} ${
    calibration &&
    html`<small class="${calibration.accepted ? 'good' : 'bad'}">${calibration.accepted ? 'accepted' : 'not trained on'}</small>`
  }</h3>
${calibration?.reason && html`<p class="soft small">${calibration.reason}</p>`}
${calibration && figures(calibration)}
${
  checks &&
  html`<details><summary>${passed} of ${checks.checks.length} checks passed</summary><div class="scroll"><table><tbody>${checks.checks.map(
    (check) =>
      html`<tr><td class="${check.passed ? 'good' : 'bad'}">${check.passed ? '✓' : '✗'} ${words(check.name)}</td><td class="wide">${check.detail}</td></tr>`,
  )}</tbody></table></div></details>`
}
${card && html`<details><summary>Card</summary>${markdown(card)}</details>`}</div>`;
}

/** Figures of the calibration that are worth a line, and their names for people. */
const FIGURES: readonly (readonly [key: string, label: string, shown: (value: number) => string])[] = [
  ['successRate', 'success rate', percent],
  ['meanReward', 'mean reward', (value) => value.toFixed(2)],
  ['informative', 'groups that can teach', percent],
];

function figures({ figures: values, rollouts, rounds }: NonNullable<EnvironmentFile['calibration']>): Html {
  return html`<dl class="kv">${FIGURES.map(([key, label, shown]) => {
    const value = values?.[key];
    return typeof value === 'number' && html`<dt>${label}</dt><dd>${shown(value)}</dd>`;
  })}<dt>calibration</dt><dd>${count(rollouts)} rollouts${rounds.length > 1 && `, ${rounds.length} rounds`}</dd></dl>`;
}
