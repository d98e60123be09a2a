import { defineConfig } from 'vitest/config'

/** Tests start real servers, stores and processes; two cores are the reference machine. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Minutes of pauses and restarts: `npm run test:faults`.
    exclude: ['test/faults/**'],
    globalSetup: 'test/support/redis-setup.ts',
    pool: 'forks',
    // The lock on data directories uses node:sqlite, which Node 22 still announces as experimental.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
