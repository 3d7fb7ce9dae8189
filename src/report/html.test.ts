import { expect, test } from 'vitest';
import { count, escapeHtml, html, percent, points, pValue } from './html.js';
import { markdown } from './markdown.js';
import { majoritySlot } from './routing.js';

test('values are escaped, Html is not, nothing is written for null and false', () => {
  const inner = html`<b>${'<&>'}</b>`;
  expect(html`<p title="${'"\''}">${inner}${null}${false}${[1, 'a&b']}</p>`.text).toBe(
    '<p title="&quot;&#39;"><b>&lt;&amp;&gt;</b>1a&amp;b</p>',
  );
  expect(escapeHtml('a\u0000b\u001bc\nd')).toBe('abc\nd');
});

test('numbers for people', () => {
  expect(percent(0.5917)).toBe('59.2 %');
  expect([points(0.053), points(-0.1), points(0.0001), points(-0.0001)]).toEqual([
    '+5.3',
    '−10.0',
    '0.0',
    '0.0',
  ]);
  expect([pValue(0.04), pValue(0.00012), pValue(1e-300)]).toEqual(['0.040', '1e-4', '< 1e-12']);
  expect([count(12), count(1234), count(1234567)]).toEqual(['12', '1\u2009234', '1\u2009234\u2009567']);
});

test('cards: headings, paragraphs, lists with continued items, code', () => {
  const source = '# A\nfirst line\nsecond `x<y` **bold**\n\n- one\n  more\n- two\n\n```ts\na < b\n```\nend';
  expect(markdown(source).text).toBe(
    '<h4>A</h4><p>first line second <code>x&lt;y</code> <b>bold</b></p>' +
      '<ul><li>one more</li><li>two</li></ul><pre>a &lt; b</pre><p>end</p>',
  );
});

test('the majority slot of the layers, the lower one of a tie', () => {
  expect(majoritySlot([0, 2, 2, 1])).toBe(2);
  expect(majoritySlot([3, 1, 1, 3])).toBe(1);
  expect(majoritySlot([])).toBe(0);
});
