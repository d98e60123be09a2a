import { defineConfig } from 'vitest/config'
import { HANG_MS } from './test/support/hang.ts'

/** What is broken on purpose: processes killed, servers frozen, histories replaced. Mostly waiting, so it takes its time. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/support/build-setup.ts', 'test/support/redis-setup.ts'],
    setupFiles: 'test/support/patient-fetch.ts',
    pool: 'forks',
    // The lock on data directories uses node:sqlite, which Node 22 still announces as experimental.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    maxWorkers: 2,
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    teardownTimeout: HANG_MS,
    expect: { poll: { timeout: HANG_MS } },
  },
})
