import type { Budget } from '../run/budget.js';
import { environmentsSection } from './environments.js';
import { evaluationSection } from './evaluation.js';
import type { RunFiles } from './files.js';
import { headline } from './headline.js';
import { type Html, html, raw } from './html.js';
import { routingSection } from './routing.js';
import { settingsSection } from './settings.js';
import { STYLE } from './style.js';
import { compositionSection, trainingSection } from './training.js';

/** What the page is made of. */
export interface ReportInput {
  readonly files: RunFiles;
  readonly budget: Budget;
  /** Names of the retained capabilities, in their order. */
  readonly missing: readonly string[];
  /** The diagnosis as its own room draws it; null before a diagnosis. */
  readonly diagnosis: Html | null;
}

/**
 * The report as one self-contained page: no script, no external resource, readable offline, in light and dark.
 * The policy in its head forbids what it does not need, should any text ever slip through the escaping.
 */
export function reportPage({ files, budget, missing, diagnosis }: ReportInput): string {
  const { snapshot, evaluation, composition, routing } = files;
  const sections: (readonly [id: string, title: string, content: Html | null])[] = [
    ['evaluation', 'Evaluation', evaluation && evaluationSection(evaluation)],
    ['diagnosis', 'Diagnosis', diagnosis && html`<section id="diagnosis">${diagnosis}</section>`],
    ['environments', 'Environments', environmentsSection(files.environments)],
    ['training', 'Training', trainingSection(files.adapters, files.baselines, composition?.slots ?? [])],
    ['composition', 'Composition', composition && compositionSection(composition)],
    ['routing', 'Routing', routing && routingSection(routing)],
    ['settings', 'Settings', settingsSection(files, budget)],
  ];
  const present = sections.filter(([, , content]) => content !== null);
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TRACE${snapshot && html`, run ${snapshot.run}`}</title>
<style>${raw(STYLE)}</style></head><body><main>
${headline(files, missing)}
<nav>${present.map(([id, title]) => html`<a href="#${id}">${title}</a>`)}</nav>
${present.map(([, , content]) => content)}
</main></body></html>
`.text;
}
