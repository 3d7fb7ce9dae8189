import { describe, expect, test } from 'vitest';
import { overTasks, passAtK, passHatK } from './pass-rates.js';

describe('one task', () => {
  // Five trials, three passed: of the C(5, 2) = 10 pairs C(3, 2) = 3 pass twice and C(2, 2) = 1 never.
  test.each([
    [3, 5, 1, 3 / 5, 3 / 5],
    [3, 5, 2, 3 / 10, 9 / 10],
    [3, 5, 3, 1 / 10, 1],
    [3, 5, 4, 0, 1],
    [0, 4, 2, 0, 0],
    [4, 4, 4, 1, 1],
    // C(8, 4) = 70 sets of four; C(6, 4) = 15 of them all pass, C(2, 4) = 0 all fail.
    [6, 8, 4, 15 / 70, 1],
    [2, 8, 4, 0, 1 - 15 / 70],
  ])('%d of %d passed, k = %d: pass^k %d, pass@k %d', (passed, n, k, hat, at) => {
    expect(passHatK({ passed, n }, k)).toBeCloseTo(hat, 12);
    expect(passAtK({ passed, n }, k)).toBeCloseTo(at, 12);
  });

  test('both equal counting all subsets of k trials', () => {
    const [n, k] = [7, 3];
    for (let passed = 0; passed <= n; passed++) {
      let [all, any, subsets] = [0, 0, 0];
      for (let mask = 0; mask < 2 ** n; mask++) {
        const chosen = Array.from({ length: n }, (_, i) => i).filter((i) => mask & (1 << i));
        if (chosen.length !== k) continue;
        subsets++;
        if (chosen.every((i) => i < passed)) all++;
        if (chosen.some((i) => i < passed)) any++;
      }
      expect(passHatK({ passed, n }, k)).toBeCloseTo(all / subsets, 12);
      expect(passAtK({ passed, n }, k)).toBeCloseTo(any / subsets, 12);
    }
  });

  test('a set of many trials does not overflow', () => {
    // 1 − (1/2 · 99/199 · … ): 1000 of 2000 passed, k = 10, product of (1000 − i) / (2000 − i).
    let none = 1;
    for (let i = 0; i < 10; i++) none *= (1000 - i) / (2000 - i);
    expect(passAtK({ passed: 1000, n: 2000 }, 10)).toBeCloseTo(1 - none, 12);
  });

  test.each([
    [{ passed: 3, n: 2 }, 1],
    [{ passed: -1, n: 2 }, 1],
    [{ passed: 1, n: 2 }, 3],
    [{ passed: 1, n: 2 }, 0],
    [{ passed: 0.5, n: 2 }, 1],
  ])('%j with k = %d is refused', (trials, k) => {
    expect(() => passHatK(trials, k)).toThrow(RangeError);
    expect(() => passAtK(trials, k)).toThrow(RangeError);
  });
});

describe('over tasks', () => {
  const options = { seed: 1, resamples: 2000 };

  test('the mean over the tasks with k trials; the others are left out and counted out', () => {
    const tasks = [
      { passed: 4, n: 4 },
      { passed: 2, n: 4 },
      { passed: 0, n: 4 },
      { passed: 1, n: 1 },
    ];
    // pass^2: 1, C(2,2)/C(4,2) = 1/6, 0.
    const two = overTasks(tasks, 2, passHatK, options)!;
    expect(two.tasks).toBe(3);
    expect(two.rate).toBeCloseTo((1 + 1 / 6 + 0) / 3, 12);
    expect(two.interval[0]).toBeLessThan(two.rate);
    expect(two.interval[1]).toBeGreaterThan(two.rate);
    // pass@2: 1, 1 − 1/6, 0.
    expect(overTasks(tasks, 2, passAtK, options)!.rate).toBeCloseTo((1 + 5 / 6) / 3, 12);
    expect(overTasks(tasks, 1, passHatK, options)!.tasks).toBe(4);
    expect(overTasks(tasks, 5, passHatK, options)).toBeNull();
  });

  test('the width is that of tasks, not of attempts', () => {
    const tasks = Array.from({ length: 100 }, (_, i) => ({ passed: i % 2 === 0 ? 8 : 0, n: 8 }));
    const { interval } = overTasks(tasks, 1, passHatK, options)!;
    // Normal approximation with 100 tasks: 0.5 ± 1.96 · 0.5 / 10.
    expect(interval[0]).toBeCloseTo(0.402, 1.5);
    expect(interval[1]).toBeCloseTo(0.598, 1.5);
  });

  test('where all tasks agree there is still an interval', () => {
    const tasks = Array.from({ length: 12 }, () => ({ passed: 3, n: 3 }));
    const { rate, interval } = overTasks(tasks, 3, passHatK, options)!;
    expect(rate).toBe(1);
    // Wilson's lower end of 12 in 12 is 12 / (12 + z²).
    expect(interval).toEqual([expect.closeTo(12 / (12 + 3.841458820694124), 12), 1]);
  });
});
