import type { CapabilitiesFile, DiagnosedCapability } from '../analyst/capabilities-file.js';
import { brief, MOST } from './cut.js';
import { type Html, html, words } from './html.js';
import { slotClass } from './style.js';
import type { Strength } from './verdict.js';

/** Class that gives a capability its colour: one of the series when retained, grey otherwise. */
export const capabilityTone = ({ capabilities }: CapabilitiesFile, index: number) =>
  capabilities[index]?.retained ? slotClass(index + 1) : 'rest';

/** A capability's number in its colour: the same in the plane, the matrix, the tables and its card. */
export function badge(file: CapabilitiesFile, index: number): Html {
  return html`<b class="no ${capabilityTone(file, index)}">${index + 1}</b>`;
}

/** A capability's name for people, cut where it is endless. */
export const nameOf = ({ name }: Pick<DiagnosedCapability, 'name'>) => brief(words(name), MOST.name);

const SURE: { readonly [strength in Strength]: readonly [dots: number, text: string] } = {
  firm: [3, 'firm'],
  likely: [2, 'likely'],
  lead: [1, 'a lead, no proof'],
};

/** How sure a finding is: in words, in dots and in colour. */
export function sureness(strength: Strength): Html {
  const [dots, text] = SURE[strength];
  return html`<span class="sure ${strength}"><i>${[1, 2, 3].map((i) => html`<b class="${i <= dots ? 'on' : ''}"></b>`)}</i>${text}</span>`;
}
