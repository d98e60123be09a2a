import { defineConfig } from 'vitest/config'

/** What is broken on purpose: processes killed, servers frozen, histories replaced. Mostly waiting, so it takes its time. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    globalSetup: 'test/support/redis-setup.ts',
    pool: 'forks',
    // The lock on data directories uses node:sqlite, which Node 22 still announces as experimental.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // The machine may stand still for as long. What came too late is tried again, and told of; what was wrong never is.
    retry: { count: 1, condition: /^(Test|Hook) timed out in/ },
  },
})
