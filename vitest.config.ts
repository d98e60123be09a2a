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
    // The machine may stand still for as long. What came too late is tried again, and told of; what was wrong never is.
    retry: { count: 1, condition: /^(Test|Hook) timed out in/ },
  },
})
