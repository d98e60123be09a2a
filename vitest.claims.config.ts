import { defineConfig } from 'vitest/config'
import { HANG_MS } from './test/support/hang.ts'

/** What documents claim about allocation, collections and times, judged one after the other: it is measured, so others disturb it. */
export default defineConfig({
  test: {
    include: ['bench/claims/**/*.claim.ts'],
    globalSetup: ['test/support/build-setup.ts', 'test/support/redis-setup.ts'],
    setupFiles: 'test/support/patient-fetch.ts',
    pool: 'forks',
    execArgv: ['--disable-warning=ExperimentalWarning'],
    maxWorkers: 1,
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    teardownTimeout: HANG_MS,
    expect: { poll: { timeout: HANG_MS } },
  },
})
