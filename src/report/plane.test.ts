import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diagnosed } from '../../test/support/diagnosed.js';
import { diagnosisPlane, placeTags, planeScale } from './plane.js';

const place = fc.record({
  x: fc.double({ min: 0, max: 1, noNaN: true }),
  y: fc.double({ min: 0, max: 1, noNaN: true }),
});

test('tags of up to ten points keep apart on a wide screen and on a phone, wherever the points lie', () => {
  fc.assert(
    fc.property(fc.array(place, { minLength: 1, maxLength: 10 }), (points) => {
      const tags = placeTags(points);
      for (const [width, height] of [
        [560, 370],
        [280, 290],
      ] as const) {
        const at = tags.map((tag, i) => ({
          x: points[i]!.x * width + tag.x,
          y: points[i]!.y * height + tag.y,
        }));
        for (const [i, a] of at.entries())
          for (const b of at.slice(i + 1)) expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(12);
      }
    }),
    { numRuns: 60 },
  );
});

test('ten candidates on one spot have ten tags in sight', () => {
  const tags = placeTags(Array.from({ length: 10 }, () => ({ x: 0.1, y: 0.9 })));
  expect(new Set(tags.map(({ x, y }) => `${x},${y}`)).size).toBe(10);
});

test('axes hold thresholds, points and the intervals of what is retained; others may run over the edge', () => {
  const { file } = diagnosed({
    capabilities: [
      { name: 'a', coverage: 0.3, coverageInterval: [0.2, 0.42], gap: 0.4, gapInterval: [-0.07, 0.62] },
      {
        name: 'b',
        retained: false,
        coverage: 0.02,
        coverageInterval: [0, 0.1],
        gap: 0.1,
        gapInterval: [-0.9, 0.9],
      },
    ],
    attempts: [],
  });
  const { coverage, gap } = planeScale(file);
  expect(coverage.high).toBeCloseTo(0.5);
  expect([gap.low, gap.high]).toEqual([expect.closeTo(-0.2), expect.closeTo(0.8)]);
  const svg = diagnosisPlane(file).text;
  // 0.3 of 0.5, and 0.4 between −0.2 and 0.8.
  expect(svg).toContain('<circle class="mark" cx="60%" cy="40%"');
  expect(svg).toContain('x1="0%" x2="20%"');
});
