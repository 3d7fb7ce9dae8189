import { expect, test } from 'vitest';
import { backoffSeconds, retryAfterSeconds, sleep } from './backoff.js';

test('waits double, spread over half to one and a half, up to a minute; the server’s wish comes first', () => {
  for (let retry = 0; retry < 10; retry++) {
    const base = Math.min(60, 2 ** retry);
    const wait = backoffSeconds(1, retry, 'key', null);
    expect(wait).toBeGreaterThanOrEqual(base * 0.5);
    expect(wait).toBeLessThan(base * 1.5);
    expect(backoffSeconds(1, retry, 'key', null)).toBe(wait);
    expect(backoffSeconds(1, retry, 'key', 30)).toBe(30);
  }
  expect(backoffSeconds(1, 3, 'one', null)).not.toBe(backoffSeconds(1, 3, 'two', null));
});

test('Retry-After in seconds, as a date, in milliseconds', () => {
  const now = Date.parse('2024-01-01T00:00:00Z');
  expect(retryAfterSeconds({ 'retry-after': '7' }, now)).toBe(7);
  expect(retryAfterSeconds({ 'retry-after': 'Mon, 01 Jan 2024 00:01:30 GMT' }, now)).toBe(90);
  expect(retryAfterSeconds({ 'retry-after': 'Sun, 31 Dec 2023 00:00:00 GMT' }, now)).toBe(0);
  expect(retryAfterSeconds({ 'retry-after-ms': '250', 'retry-after': '7' }, now)).toBe(0.25);
  expect(retryAfterSeconds({ 'retry-after': 'soon' }, now)).toBeNull();
  expect(retryAfterSeconds({}, now)).toBeNull();
});

test('a wait ends with the signal', async () => {
  const controller = new AbortController();
  const waiting = sleep(60, controller.signal);
  controller.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await expect(sleep(0, controller.signal)).rejects.toThrow('stopped');
  await sleep(0);
});
