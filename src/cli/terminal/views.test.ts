import { expect, test } from 'vitest';
import type { RunEvent } from '../../run/events.js';
import { Board, paceOf } from './board.js';
import { colorsFor } from './colors.js';
import { boardLines, LiveView } from './live.js';
import { PlainView } from './plain.js';
import { throttle } from './view.js';

const colors = colorsFor({ isTTY: false });
const progress = (done: number, note?: string): RunEvent => ({
  type: 'progress',
  step: 'train',
  task: 'verify_precondition',
  done,
  total: 20,
  unit: 'iterations',
  ...(note ? { note } : {}),
});

test('the running step shows bar, rate, time left and note; later steps wait', () => {
  const board = new Board(['rollout', 'train', 'compose']);
  board.apply({ type: 'step:end', step: 'rollout', summary: '768 attempts', resumed: true }, 0);
  board.apply({ type: 'step:start', step: 'train', title: 'four adapters' }, 10);
  board.apply(progress(0), 10);
  board.apply(progress(5, 'reward 0.41'), 20);
  const lines = boardLines(board, 20, 120, colors);
  expect(lines[0]).toContain('train');
  expect(lines[0]).toContain('0:10');
  // 5 of 20 in 10 s: 0.5 a second, 15 left take 30 s; a quarter of 24 cells is 6.
  expect(lines[1]).toContain(`verify_precondition ${'━'.repeat(6)}${'─'.repeat(18)} 5/20 iterations`);
  expect(lines[1]).toContain('0.50/s · 0:30 left · reward 0.41');
  expect(lines[2]).toBe('○ compose');
  for (const line of boardLines(board, 20, 40, colors)) expect([...line].length).toBeLessThan(40);
  // Where there is little room, the name gives way first.
  expect(boardLines(board, 20, 90, colors)[1]).toContain(
    `verify_precondition ${'━'.repeat(3)}${'─'.repeat(9)} 5/20`,
  );
  expect(boardLines(board, 20, 48, colors)[1]).toContain('verify_precondi… ');
});

test('work that was done before this process is not counted as speed', () => {
  const board = new Board(['train']);
  board.apply({ type: 'step:start', step: 'train', title: '' }, 0);
  board.apply(progress(10), 1);
  expect(paceOf(board.running!.bars.get('verify_precondition')!, 1)).toBeNull();
  board.apply(progress(12), 5);
  expect(paceOf(board.running!.bars.get('verify_precondition')!, 5)!.rate).toBeCloseTo(2 / 5);
});

/** What a terminal would show: cursor-up and erase applied to the text. */
function screen(writes: string): string[] {
  const lines = [''];
  for (const piece of writes.split(/(\x1b\[\d*A|\x1b\[0J|\x1b\[\?25[lh]|\r|\n)/)) {
    if (/^\x1b\[\d+A$/.test(piece)) {
      const up = Number(piece.slice(2, -1));
      lines.length = Math.max(1, lines.length - up);
      lines[lines.length - 1] = '';
    } else if (piece === '\n') lines.push('');
    else if (!piece.startsWith('\x1b') && piece !== '\r') lines[lines.length - 1] += piece;
  }
  return lines.filter((line) => line !== '');
}

test('the live view ends with the finished steps and messages alone', () => {
  let written = '';
  let now = 0;
  const output = {
    write: (text: string) => {
      written += text;
    },
    columns: 100,
  };
  const view = new LiveView(['train', 'compose'], output, colors, () => now);
  view.start();
  view.handle({ type: 'step:start', step: 'train', title: 'adapters' });
  view.handle(progress(3));
  view.print('a note');
  now = 65;
  view.handle({ type: 'message', step: 'train', level: 'warning', text: 'reward is flat' });
  view.handle({ type: 'step:end', step: 'train', summary: '4 adapters' });
  expect(screen(written).at(-1)).toBe('○ compose');
  view.stop();
  expect(screen(written)).toEqual(['a note', 'warning reward is flat', '✔ train       4 adapters  1:05']);
  expect(written.endsWith('\x1b[?25h')).toBe(true);
});

test('the plain view says begin, end and messages, and progress rarely', () => {
  let written = '';
  let now = 0;
  const view = new PlainView(
    ['train'],
    (text) => {
      written += text;
    },
    colors,
    () => now,
  );
  view.handle({ type: 'step:start', step: 'train', title: 'adapters' });
  for (let i = 0; i <= 20; i++) {
    now = i;
    view.handle(progress(i));
  }
  view.handle({ type: 'step:end', step: 'train', summary: '4 adapters' });
  const lines = written.trimEnd().split('\n');
  // At 15 s and at the end.
  expect(lines.filter((line) => line.includes('verify_precondition'))).toHaveLength(2);
  expect(lines[0]).toBe('▶ train: adapters');
  expect(lines.at(-1)).toContain('4 adapters');
});

test('progress for machines is thinned out, all else passes', () => {
  let now = 0;
  const isDue = throttle(() => now);
  expect(isDue(progress(0))).toBe(true);
  now = 100;
  expect(isDue(progress(1))).toBe(false);
  expect(isDue({ type: 'step:end', step: 'train', summary: '' })).toBe(true);
  now = 250;
  expect(isDue(progress(2))).toBe(true);
  now = 260;
  expect(isDue(progress(20))).toBe(true);
});
