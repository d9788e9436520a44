import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Two at least: most of these tests wait for other processes. */
const maxWorkers = Math.max(2, availableParallelism() - 1);

export default defineConfig({
  test: { include: ['test/**/*.test.ts'], testTimeout: 30_000, hookTimeout: 60_000, maxWorkers },
});
