import type { Wording } from './service/world.js';
import { mostFrequent, numberIn, unitsOf, type Word } from './words.js';

/** What joins one request to the next: punctuation, connecting words, or both. */
const JOINT =
  /(?:[.,;:!?]\s+|\s+)(?:(?:and|then|also|plus|next|finally|besides|after that)\b,?\s+)+|[.,;:!?]\s+|\n+/giu;

/** Attributes of a request by value, with the list of options where there was a choice. */
export interface RequestValues {
  readonly key: string;
  /** Null: the reference does not execute this request, so that only its key is known. */
  readonly tool: string | null;
  readonly values: { readonly [attribute: string]: string };
  readonly chosen: { readonly [attribute: string]: string } | null;
  readonly options: readonly { readonly [attribute: string]: string }[];
}

export interface RequestText {
  readonly taskId: string;
  readonly text: string;
  readonly account: { readonly [attribute: string]: string };
  readonly requests: readonly RequestValues[];
}

type Values = { readonly [attribute: string]: string };

export interface Clause {
  readonly taskId: string;
  readonly request: RequestValues;
  readonly text: string;
}

export interface Dissection {
  readonly opening: string;
  /** Text of each request in the order of the text. */
  readonly clauses: readonly Clause[];
  readonly joints: readonly string[];
  readonly ending: string;
}

/** What all messages begin with, up to the end of a word. */
export function commonOpening(texts: readonly string[]): string {
  let prefix = texts[0] ?? '';
  for (const text of texts) {
    let n = 0;
    while (n < prefix.length && prefix[n] === text[n]) n++;
    prefix = prefix.slice(0, n);
  }
  return /^.*\s/su.exec(prefix)?.[0] ?? '';
}

/**
 * Cuts a person's message into its opening, one clause a request and what joins them; null when keys are missing.
 * @param prefix what every message of the target begins with.
 */
export function dissect(message: RequestText, prefix = ''): Dissection | null {
  const { text } = message;
  const words = unitsOf(
    text,
    new Set(
      [message.account, ...message.requests.map(({ values }) => values)].flatMap(Object.values<string>),
    ),
  );
  const placed = message.requests
    .map((request) => ({ request, word: words.find((word) => word.text === request.key) }))
    .filter(({ word }) => word !== undefined)
    .map(({ request, word }) => ({ request, start: word!.start, end: word!.end }))
    .sort((a, b) => a.start - b.start);
  if (placed.length === 0 || placed.length < message.requests.length) return null;

  const joints = [...text.matchAll(JOINT)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  const own = (request: RequestValues) => new Set(Object.values(request.values));
  // The cut before request i: the first joint after which no word belongs to the request before alone.
  const cuts = placed.map(({ request, start }, i) => {
    const previous = placed[i - 1];
    const from = previous ? previous.end : 0;
    const between = joints.filter((joint) => joint.start >= from && joint.end <= start);
    const before = previous
      ? new Set([...own(previous.request)].filter((value) => !own(request).has(value)))
      : new Set(Object.values(message.account));
    const clear = (joint: { end: number }) =>
      !words.some((word) => word.start >= joint.end && word.end <= start && before.has(word.text));
    return between.find(clear) ?? null;
  });
  if (cuts.some((cut, i) => cut === null && i > 0)) return null;
  const ending = /[\s.!?]*$/u.exec(text)![0];
  const starts = cuts.map((cut, i) => (i === 0 ? Math.max(cut?.end ?? 0, prefix.length) : cut!.end));
  return {
    opening: text.slice(0, starts[0]!),
    clauses: placed.map(({ request }, i) => ({
      taskId: message.taskId,
      request,
      text: text.slice(starts[i]!, i + 1 < placed.length ? cuts[i + 1]!.start : text.length - ending.length),
    })),
    joints: cuts.slice(1).map((cut) => text.slice(cut!.start, cut!.end)),
    ending,
  };
}

/** How a text is worded: its template, which option attributes it states, and how it tells options apart. */
export interface LearnedWording {
  readonly text: string;
  readonly stated: readonly string[];
  readonly extreme?: NonNullable<Wording['extreme']>;
  /** Number of tasks that it was seen in. */
  readonly tasks: number;
}

/** Replaces words that are values by placeholders, the attribute decided by a vote over all texts of one form. */
export function templatesOf(
  texts: readonly {
    readonly text: string;
    readonly values: { readonly [attribute: string]: string };
    readonly id: string;
  }[],
): { readonly template: string; readonly ids: readonly string[] }[] {
  const forms = new Map<string, { units: readonly Word[]; text: string; values: Values; id: string }[]>();
  for (const one of texts) {
    const units = unitsOf(one.text, new Set(Object.values(one.values)));
    let at = 0;
    const pieces = units.flatMap((unit) => {
      const glue = one.text.slice(at, unit.start);
      at = unit.end;
      return [glue, unit.value ? '\u0001' : unit.text];
    });
    const form = JSON.stringify([...pieces, one.text.slice(at)]);
    forms.set(form, [...(forms.get(form) ?? []), { ...one, units }]);
  }
  return [...forms.values()].map((members) => {
    const [first] = members;
    const slots = first!.units.map((_, i) =>
      mostFrequent(
        members.flatMap(({ units, values }) =>
          Object.keys(values).filter((attribute) => values[attribute] === units[i]!.text),
        ),
      ),
    );
    let template = '';
    let at = 0;
    first!.units.forEach((unit, i) => {
      template += first!.text.slice(at, unit.start) + (slots[i] ? `{${slots[i]}}` : unit.text);
      at = unit.end;
    });
    return { template: template + first!.text.slice(at), ids: members.map(({ id }) => id) };
  });
}

/** Wordings of one tool's requests, commonest first; ones seen in a single task are kept only when all are. */
export function learnWordings(
  clauses: readonly Clause[],
  optionAttributes: readonly string[],
): LearnedWording[] {
  const byId = new Map(clauses.map((clause, i) => [String(i), clause]));
  const found = templatesOf(
    clauses.map(({ text, request }, i) => ({ text, values: request.values, id: String(i) })),
  ).map(({ template, ids }): LearnedWording => {
    const members = ids.map((id) => byId.get(id)!);
    const stated = optionAttributes.filter((attribute) => template.includes(`{${attribute}}`));
    const extreme = learnExtreme(members, stated, optionAttributes);
    return {
      text: template,
      stated,
      ...(extreme ? { extreme } : {}),
      tasks: new Set(members.map((m) => m.taskId)).size,
    };
  });
  found.sort((a, b) => b.tasks - a.tasks || (a.text < b.text ? -1 : 1));
  const several = found.filter(({ tasks }) => tasks > 1);
  return several.length > 0 ? several : found;
}

/** When several options agree with what is stated: is the chosen one always the least or greatest in something? */
function learnExtreme(
  members: readonly Clause[],
  stated: readonly string[],
  attributes: readonly string[],
): LearnedWording['extreme'] {
  const open = members
    .map(({ request }) => ({
      chosen: request.chosen,
      agreeing: request.options.filter((option) => stated.every((a) => option[a] === request.chosen?.[a])),
    }))
    .filter(({ chosen, agreeing }) => chosen !== null && agreeing.length > 1);
  if (open.length === 0) return undefined;
  for (const attribute of attributes) {
    if (stated.includes(attribute)) continue;
    for (const sign of [1, -1] as const) {
      const best = open.every(({ chosen, agreeing }) => {
        const value = numberIn(chosen![attribute] ?? '');
        return (
          value !== null &&
          agreeing.every((option) => {
            const other = numberIn(option[attribute] ?? '');
            return other !== null && sign * (other - value) >= 0;
          })
        );
      });
      if (best) {
        const counts = open.map(({ agreeing }) => agreeing.length);
        return { attribute, sign, agreeing: [Math.min(...counts), Math.max(...counts)] };
      }
    }
  }
  return undefined;
}

/** The learned wording that a clause has, by its literal words; null when none fits. */
export function matchWording(text: string, wordings: readonly LearnedWording[]): LearnedWording | null {
  for (const wording of wordings) {
    const pattern = wording.text
      .split(/\{[^{}]+\}/)
      .map((literal) => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^\\s,;:!?]+');
    if (new RegExp(`^${pattern}$`, 'u').test(text)) return wording;
  }
  return null;
}
