import { expect, test } from 'vitest';
import { elements } from '../../test/support/elements.js';
import type { Budget } from '../run/budget.js';
import type { RunFiles } from './files.js';
import { html } from './html.js';
import { reportPage } from './page.js';

const HOSTILE = `"><img src=x onerror=alert(1)>'</style><script>alert(2)</script>&amp;`;

const cell = { split: 'test', decoding: 'sample' };
const paired = { difference: 0.5, interval: [0.4, 0.6] as [number, number], p: 1e-9 };
const system = (name: string, rate: number) => ({
  ...cell,
  name,
  passed: rate * 512,
  n: 512,
  rate,
  interval: [rate / 2, (1 + rate) / 2] as [number, number],
  rollouts: 1234567,
});
const training = (name: string) => ({
  name,
  lines: [
    { iteration: 1, rollouts: 64, reward: 0.2, success: 0.1 },
    { iteration: 2, rollouts: 176, reward: 0.7, success: 0.6, heldOut: { success: 0.5 } },
  ],
  summary: {
    rollouts: 176,
    best: { iteration: 2, success: 0.5 },
    warnings: [HOSTILE],
    settings: { x: HOSTILE },
  },
});

/** Every text that comes from files is hostile. */
const files: RunFiles = {
  snapshot: { run: HOSTILE, version: HOSTILE, seed: 1, config: { target: HOSTILE } },
  environments: [
    {
      name: HOSTILE,
      card: `# ${HOSTILE}\n\n- ${HOSTILE}\n\n\`\`\`\n${HOSTILE}\n\`\`\`\n`,
      calibration: {
        accepted: false,
        reason: HOSTILE,
        rollouts: 256,
        rounds: [1, 2],
        figures: { successRate: 0.38, meanReward: HOSTILE },
      },
      checks: { passed: false, checks: [{ name: HOSTILE, passed: false, detail: HOSTILE }] },
    },
  ],
  adapters: [training(HOSTILE)],
  baselines: [training('direct-grpo')],
  composition: {
    slots: [HOSTILE],
    gateParameters: 28,
    rollouts: 96,
    sources: [{ environment: HOSTILE, player: 'adapter', attempts: 96, passed: 90 }],
    fits: [{ examples: 90, steps: 12, epochLoss: [0.5, 0.25] }],
  },
  routing: {
    task: HOSTILE,
    passed: true,
    baseFails: true,
    slots: ['none', HOSTILE],
    tokens: [
      { text: HOSTILE, role: 'user' },
      { text: HOSTILE, role: 'assistant', slots: [0, 1, 1] },
      { text: HOSTILE, role: HOSTILE },
    ],
    usage: { tasks: 32, share: [[0.25, 0.75]] },
  },
  evaluation: {
    target: HOSTILE,
    model: HOSTILE,
    seed: 1,
    systems: [system('mixture', 0.6), system('base', 0.1), system(`adapter:${HOSTILE}`, 0.2)],
    comparisons: [{ ...cell, ...paired, of: 'mixture', against: 'base' }],
    gains: [{ ...cell, ...paired, capability: HOSTILE, needed: null, n: 100, base: 10, mixture: 60 }],
    errors: [{ ...cell, name: 'mixture', failed: 205, kinds: [{ kind: HOSTILE, attempts: 200 }] }],
    baselines: {},
  },
};
const budget: Budget = {
  rollout: 768,
  calibration: { [HOSTILE]: 256 },
  training: { [HOSTILE]: 1472 },
  composition: 96,
  total: 2592,
  baselines: { 'direct-grpo': 2560 },
  unknown: [],
};
const page = reportPage({ files, budget, missing: [HOSTILE], diagnosis: html`<p>${HOSTILE}</p>` });

test('hostile text in any file stays text: the page has only the elements that it writes itself', () => {
  const names = new Set(elements(page));
  for (const name of ['script', 'img', 'iframe', 'object', 'link', 'form']) expect(names).not.toContain(name);
  expect(names).toContain('svg');
  expect(page.match(/<\/style>/g)).toHaveLength(1);
});

test('the page needs nothing from elsewhere', () => {
  expect(page).not.toMatch(/\b(?:src|href)="(?!#)/);
  expect(page).not.toMatch(/url\(|@import|https?:/);
});

test('the headline tells base, mixture, interval and difference', () => {
  const text = page.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
  expect(text).toContain('10.0 % → 60.0 %');
  expect(text).toContain('95 % interval of the mixture [30.0, 80.0]');
  expect(text).toContain('Difference +50.0 points [40.0, 60.0], p 1e\u20119');
});

test('a run that has only begun has a page too', () => {
  const empty: RunFiles = {
    snapshot: null,
    environments: [],
    adapters: [],
    baselines: [],
    composition: null,
    routing: null,
    evaluation: null,
  };
  const text = reportPage({
    files: empty,
    budget: { ...budget, calibration: {}, training: {} },
    missing: [],
    diagnosis: null,
  });
  elements(text);
  expect(text).toContain('has not been evaluated yet');
});
