import { Random } from '../../run/random.js';

const LONGEST_SECONDS = 60;
/** A server that wants a longer wait than this is not waited for. */
export const MOST_PATIENCE_SECONDS = 600;

/**
 * Seconds to wait before another try: what the server asks for, else doubling from `first`, spread over half to one
 * and a half so that requests that failed together do not come back together.
 * @param retry which retry this is, from 0.
 * @param key tells requests apart, so that the spread is the same in every process.
 */
export function backoffSeconds(first: number, retry: number, key: string, retryAfter: number | null): number {
  const spread = 0.5 + new Random(0, `/backoff/${key}`).fork(retry).float();
  const own = Math.min(LONGEST_SECONDS, first * 2 ** retry) * spread;
  return retryAfter === null ? own : Math.max(retryAfter, Math.min(own, 1));
}

/**
 * Seconds that a `Retry-After` header asks for (seconds or an HTTP date), or `retry-after-ms`; null without one.
 * @param now milliseconds since 1970.
 */
export function retryAfterSeconds(
  headers: Readonly<Record<string, string>> | undefined,
  now: number,
): number | null {
  const of = (name: string) => headers?.[name] ?? headers?.[name.toLowerCase()];
  const milliseconds = Number(of('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds / 1000;
  const text = of('retry-after')?.trim();
  if (!text) return null;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000);
}

/** Waits; ends early with the signal's reason. @throws `signal.reason` when aborted. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
