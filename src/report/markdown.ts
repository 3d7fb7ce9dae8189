import { type Html, html } from './html.js';

/**
 * The Markdown that environment cards use: headings, paragraphs, lists, fenced code, `code` and **bold**. What it
 * does not know stays text; nothing in it becomes HTML.
 */
export function markdown(source: string): Html {
  const blocks: Html[] = [];
  const lines = source.replaceAll('\r\n', '\n').split('\n');
  for (let i = 0; i < lines.length; ) {
    const line = lines[i]!;
    if (line.trim() === '') {
      i++;
    } else if (line.startsWith('```')) {
      const end = lines.findIndex((other, j) => j > i && other.startsWith('```'));
      const stop = end < 0 ? lines.length : end;
      blocks.push(html`<pre>${lines.slice(i + 1, stop).join('\n')}</pre>`);
      i = stop + 1;
    } else if (/^#{1,6} /.test(line)) {
      blocks.push(html`<h4>${inline(line.replace(/^#+ /, ''))}</h4>`);
      i++;
    } else {
      const isItem = (text: string) => /^\s*([-*]|\d+\.) /.test(text);
      const item = isItem(line);
      let end = i;
      while (
        end < lines.length &&
        lines[end]!.trim() !== '' &&
        !/^(#{1,6} |```)/.test(lines[end]!) &&
        (end === i || isItem(lines[end]!) === item || item)
      )
        end++;
      const part = lines.slice(i, end);
      blocks.push(item ? list(part, isItem) : html`<p>${inline(part.join(' '))}</p>`);
      i = end;
    }
  }
  return html`${blocks}`;
}

function list(lines: readonly string[], isItem: (line: string) => boolean): Html {
  const items: string[] = [];
  for (const line of lines)
    if (isItem(line)) items.push(line.replace(/^\s*([-*]|\d+\.) /, ''));
    else items[items.length - 1] += ` ${line.trim()}`;
  return html`<ul>${items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`;
}

function inline(text: string): Html {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*)/);
  return html`${parts.map((part) => {
    if (/^`[^`]+`$/.test(part)) return html`<code>${part.slice(1, -1)}</code>`;
    if (/^\*\*[^*]+\*\*$/.test(part)) return html`<b>${part.slice(2, -2)}</b>`;
    return part;
  })}`;
}
