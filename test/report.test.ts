import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OfflineRaters } from '../src/analyst/offline/offline.js';
import { diagnose } from '../src/diagnosis/diagnose.js';
import { diagnosisPage } from '../src/report/diagnosis.js';
import { originOfFiles } from '../src/report/diagnosis-origin.js';
import { diagnosisView } from '../src/report/diagnosis-view.js';
import { importTrajectories } from '../src/trajectory/importers/detect.js';
import type { Trajectory } from '../src/trajectory/trajectory.js';
import { diagnosed, type ToldAttempt } from './support/diagnosed.js';

/** Where a Chromium may be; the environment's word first. */
const PLACES = [
  process.env.TRACE_TEST_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  chromium.executablePath(),
];
const executablePath = PLACES.find((path) => path !== undefined && path !== '' && existsSync(path));
const title = 'the report in a browser';
if (!executablePath)
  console.warn(`${title}: left out, there is no chromium (TRACE_TEST_CHROMIUM may name one)`);

const HOSTILE = `</style></title><script>window.hacked = 1</script><img src="http://hostile.invalid/x.png" onerror="window.hacked = 2">'"\`\u202Egnp.exe ${'A'.repeat(1_000_000)}`;

/** Twelve attempts in which every text is hostile and endless. */
const hostile = diagnosed({
  capabilities: [
    { name: `first ${HOSTILE}`, definition: HOSTILE, cautions: [HOSTILE] },
    { name: HOSTILE, retained: false, gap: -0.2, kappaLow: true, kappa: 0.2 },
  ],
  attempts: Array.from(
    { length: 12 },
    (_, i): ToldAttempt => ({
      task: `task ${i % 5} ${HOSTILE}`,
      outcome: i % 3 === 0 ? 'passed' : 'failed',
      labels: i % 3 === 0 ? 'PN' : i % 2 === 0 ? 'LP' : 'NL',
    }),
  ),
  warnings: [HOSTILE],
  text: HOSTILE,
});

/** Five hundred attempts at 125 tasks with ten candidates. */
const many = diagnosed({
  capabilities: Array.from({ length: 10 }, (_, c) => ({
    name: `capability_number_${c + 1}`,
    retained: c < 4,
    coverage: 0.05 + 0.09 * c,
    coverageInterval: [0.03 * c, 0.1 + 0.1 * c] as const,
  })),
  attempts: Array.from(
    { length: 500 },
    (_, i): ToldAttempt => ({
      task: `${i >> 2}`,
      outcome: i % 5 < 3 ? 'failed' : 'passed',
      labels: Array.from({ length: 10 }, (_, c) => 'LPPNNN'[(i * (c + 3)) % 6]!).join(''),
    }),
  ),
});

describe.skipIf(!executablePath)(title, { timeout: 240_000 }, () => {
  let folder: string;
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trace-report-'));
    browser = await chromium.launch({
      executablePath: executablePath!,
      args: ['--no-sandbox'],
      timeout: 120_000,
    });
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** Opens a page as a file; whatever it asks for beside itself, and whatever it complains of, is kept. */
  async function open(text: string, options: { width?: number; dark?: boolean } = {}) {
    const path = join(folder, 'report.html');
    writeFileSync(path, text);
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1280, height: 800 },
      colorScheme: options.dark ? 'dark' : 'light',
    });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const own = pathToFileURL(path).href;
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(own)) requests.push(request.url());
    });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('dialog', (dialog) => {
      complaints.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(own, { waitUntil: 'load' });
    return { page, requests, complaints };
  }

  const render = ({ file, raters, trajectories }: ReturnType<typeof diagnosed>, name = 'results.json') =>
    diagnosisPage(diagnosisView(file, { raters, trajectories, origin: originOfFiles([name]) }));
  const value = async (page: Page, expression: string) => Number(await page.evaluate(expression));
  const WIDTH = 'document.documentElement.scrollWidth';

  test('hostile text is shown and does nothing; nothing is fetched, nothing complains', async () => {
    const { page, requests, complaints } = await open(render(hostile, HOSTILE.slice(0, 120)));
    expect(await page.evaluate('typeof window.hacked')).toBe('undefined');
    for (const kind of ['scripts', 'images', 'forms', 'embeds'])
      expect(await value(page, `document.${kind}.length`)).toBe(0);
    expect(
      await value(page, 'document.querySelectorAll("iframe, object, link, base, [onerror], [src]").length'),
    ).toBe(0);
    expect(await page.locator('.quotes q').first().textContent()).toContain(
      '<script>window.hacked = 1</script>',
    );
    // The whole page was understood as written: its last section stands inside the page.
    expect(await page.locator('main #next li').count()).toBeGreaterThan(1);
    expect(requests).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test.each([
    ['hostile', () => render(hostile, `${'y'.repeat(300)}.json`)],
    ['many', () => render(many)],
  ])(
    '%s attempts: no sideways scrolling on a phone, a tablet or paper, with everything unfolded',
    async (_, text) => {
      const { page } = await open(text(), { width: 390 });
      expect(await value(page, WIDTH)).toBe(390);
      await page.evaluate('for (const item of document.querySelectorAll("details")) item.open = true');
      for (const width of [390, 700, 801, 1000]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await value(page, WIDTH)).toBe(width);
      }
      // The width of an A4 page between its margins.
      await page.setViewportSize({ width: 690, height: 1000 });
      await page.emulateMedia({ media: 'print' });
      expect(await value(page, WIDTH)).toBe(690);
      await page.context().close();
    },
  );

  test('the answer is on the first screen, light and dark; a mark opens its attempt and closes again', async () => {
    for (const dark of [false, true]) {
      const { page, complaints } = await open(render(many), { dark });
      for (const part of ['.verdict', '.account', '.finding >> nth=0', '.todo .steps li >> nth=0']) {
        const box = await page.locator(part).first().boundingBox();
        expect(box!.y + box!.height, part).toBeLessThan(800);
      }
      const [ink, ground] = (await page.evaluate(
        '[getComputedStyle(document.querySelector(".verdict")).color, getComputedStyle(document.body).backgroundColor].map((c) => Number(c.match(/\\d+/)[0]))',
      )) as [number, number];
      expect(dark ? ink - ground : ground - ink).toBeGreaterThan(150);
      expect(complaints).toEqual([]);
      if (!dark) {
        expect(await page.locator('.mxrow').count()).toBe(10);
        expect(await page.locator('.mxrow button').count()).toBe(5000);
        expect(await page.locator('.sheet:popover-open').count()).toBe(0);
        await page.locator('.mxrow button.L').first().click();
        const sheet = page.locator('.sheet:popover-open');
        expect(await sheet.textContent()).toMatch(/capability number 1: lacks it\s*10 of 10 raters/);
        await page.keyboard.press('Escape');
        expect(await sheet.count()).toBe(0);
      }
      await page.context().close();
    }
  });

  test('marks differ in shape as well as in colour, and the numbers of the plane lie apart', async () => {
    const { page } = await open(render(many));
    const styles = (await page.evaluate(
      '["L", "P", "N"].map((kind) => { const s = getComputedStyle(document.querySelector(".cells ." + kind), "::before"); return [s.borderTopLeftRadius, s.borderTopWidth, s.backgroundImage === "none"].join(" "); })',
    )) as string[];
    expect(new Set(styles).size).toBe(3);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const tags = (await page.evaluate(
        '[...document.querySelectorAll(".plane .tag")].map((tag) => { const box = tag.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })',
      )) as [number, number][];
      expect(tags).toHaveLength(10);
      for (const [i, [x, y]] of tags.entries())
        for (const [otherX, otherY] of tags.slice(i + 1))
          expect(Math.hypot(x - otherX, y - otherY)).toBeGreaterThan(12);
    }
    await page.context().close();
  });

  test('printed, it has pages, and no sheet or link list on them', async () => {
    const { page } = await open(render(many));
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.jumps').isVisible()).toBe(false);
    expect(await page.locator('.verdict').isVisible()).toBe(true);
    const pdf = await page.pdf({ format: 'A4' });
    expect(pdf.subarray(0, 5).toString('latin1')).toBe('%PDF-');
    await page.context().close();
  });

  const data = process.env.TRACE_TEST_DATA ?? resolve(import.meta.dirname, '../../shared/data');
  const results = join(data, 'tau2', 'results');
  const files = existsSync(results)
    ? [
        join(data, 'trajectories', 'tau-bench-gpt-4o-airline.json'),
        ...readdirSync(results).map((name) => join(results, name)),
      ]
    : [];
  test.skipIf(files.length === 0)(
    'real logs (skipped where the optional test data is absent): key content, phone, size',
    async () => {
      for (const path of files) {
        const trajectories: Trajectory[] = [];
        for await (const trajectory of importTrajectories(path)) trajectories.push(trajectory);
        const { result, raters } = await diagnose(trajectories, new OfflineRaters({ seed: 1 }), { seed: 1 });
        const origin = originOfFiles([basename(path)]);
        const text = diagnosisPage(diagnosisView(result, { raters, trajectories, origin }));
        expect(Buffer.byteLength(text)).toBeLessThan(1_000_000);
        const { page, requests, complaints } = await open(text, { width: 390 });
        expect(await value(page, WIDTH), path).toBe(390);
        expect(requests).toEqual([]);
        expect(complaints).toEqual([]);
        const said = await page.locator('main').textContent();
        for (const { name, retained } of result.capabilities)
          if (retained) expect(said).toContain(name.replaceAll('_', ' '));
        const { failed, passed } = result.trajectories;
        if (failed > 0) expect(said).toContain(`${failed} failed against ${passed} passed attempts.`);
        await page.context().close();
      }
    },
  );
});
