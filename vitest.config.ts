import { defineConfig } from 'vitest/config';

// Two cores are the reference machine: the engine's kernels are threaded themselves, so one test file
// runs at a time in each of two workers. Long numeric tests get a generous limit; none asserts time.
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
