/** Text that is HTML already: made by `html` from escaped parts, or vouched for by `raw`. */
export class Html {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

/** What may stand in a template: text is escaped, lists are joined, nothing is written for null and false. */
export type Fragment = Html | string | number | null | undefined | false | readonly Fragment[];

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Escapes text for element content and for quoted attributes. Control characters that HTML forbids are dropped,
 * halves of surrogate pairs replaced; characters that would turn the direction of what follows are written out.
 */
export function escapeHtml(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase()}⟩`)
    .replace(/[&<>"']/g, (c) => ENTITIES[c]!);
}

/**
 * HTML from a template; every value is escaped unless it is `Html` itself. Values may stand in element content
 * and in quoted attributes, nowhere else.
 *
 * @example
 * html`<p title="${title}">${items.map((item) => html`<b>${item}</b>`)}</p>`
 */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  let text = strings[0]!;
  values.forEach((value, i) => {
    text += render(value) + strings[i + 1]!;
  });
  return new Html(text);
}

/** HTML that the caller vouches for: constants of this program, never data. */
export function raw(text: string): Html {
  return new Html(text);
}

function render(value: Fragment): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return (value as readonly Fragment[]).map(render).join('');
  return escapeHtml(String(value));
}

/** A share as a percentage with one decimal: `59.2 %`. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** An interval of shares in percent: `[54.9, 63.4]`. */
export function interval([low, high]: readonly [number, number]): string {
  const end = (share: number) => (100 * share).toFixed(1).replace('-', '−');
  return `[${end(low)}, ${end(high)}]`;
}

/** A difference of shares in points, with its sign: `+5.3`. */
export function points(difference: number): string {
  const text = (100 * Math.abs(difference)).toFixed(1);
  if (Number(text) === 0) return '0.0';
  return `${difference > 0 ? '+' : '−'}${text}`;
}

/** A p value: three decimals, below 0.001 its power of ten. */
export function pValue(p: number): string {
  if (p >= 0.001) return p.toFixed(3);
  return p < 1e-12 ? '< 1e-12' : p.toExponential(0);
}

/** A count with thin spaces between thousands. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u2009');
}

/** A snake_case name in words. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}
