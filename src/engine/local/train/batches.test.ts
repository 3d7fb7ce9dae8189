import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Datum } from '../../contract.js';
import { packBatches, shareBatches } from './batches.js';

const datum = fc
  .array(fc.record({ token: fc.nat(50), target: fc.nat(50), weight: fc.constantFrom(0, 0, 0.5, 1) }), {
    maxLength: 40,
  })
  .map(
    (steps): Datum => ({
      tokens: steps.map((step) => step.token),
      targets: steps.map((step) => step.target),
      weights: steps.map((step) => step.weight),
    }),
  );

test('every weighted position is packed exactly once, with its own prefix before it', () => {
  fc.assert(
    fc.property(fc.array(datum, { maxLength: 20 }), fc.integer({ min: 8, max: 200 }), (data, tokens) => {
      const seen = data.map(() => new Set<number>());
      for (const batch of packBatches(data, { tokens, multiple: 2 })) {
        expect(batch.tokens).toHaveLength(batch.rows * batch.length);
        batch.positions.forEach((flat, i) => {
          const row = Math.floor(Number(flat) / batch.length);
          const t = Number(flat) % batch.length;
          const index = batch.datums[row]!;
          const { tokens: prefix, targets, weights } = data[index]!;
          expect(seen[index]!.has(t)).toBe(false);
          seen[index]!.add(t);
          expect(Number(batch.targets[i])).toBe(targets[t]);
          expect(batch.weights[i]).toBe(weights[t]);
          for (let s = 0; s <= t; s++) expect(Number(batch.tokens[row * batch.length + s])).toBe(prefix[s]);
        });
      }
      data.forEach(({ weights }, index) => {
        expect(seen[index]!.size).toBe(Array.from(weights).filter((weight) => weight !== 0).length);
      });
    }),
  );
});

test('padding is small: similar lengths share a batch, and trailing positions without weight are cut', () => {
  const make = (length: number, weighted: number): Datum => ({
    tokens: new Array(length).fill(1),
    targets: new Array(length).fill(2),
    weights: Array.from({ length }, (_, t) => (t < weighted ? 1 : 0)),
  });
  const data = [make(200, 16), make(160, 157), make(15, 15), make(160, 160), make(9, 0)];
  const batches = packBatches(data, { tokens: 400, multiple: 1 });
  // Lengths 160 (157 and 160) and 16 (16 and 15); the last has no weight at all.
  expect(batches.map(({ datums, length }) => [datums, length])).toEqual([
    [[3, 1], 160],
    [[0, 2], 16],
  ]);
});

test('shares are balanced by padded tokens', () => {
  const batches = packBatches(
    Array.from({ length: 10 }, (_, i) => ({
      tokens: new Array(8 * (i + 1)).fill(1),
      targets: new Array(8 * (i + 1)).fill(1),
      weights: new Array(8 * (i + 1)).fill(1),
    })),
    { tokens: 40, multiple: 2 },
  );
  const loads = shareBatches(batches, 2).map((share) =>
    share.reduce((sum, i) => sum + batches[i]!.rows * batches[i]!.length, 0),
  );
  expect(loads[0]! + loads[1]!).toBe(batches.reduce((sum, batch) => sum + batch.rows * batch.length, 0));
  expect(Math.abs(loads[0]! - loads[1]!)).toBeLessThanOrEqual(80);
});
