import { defineConfig } from 'vitest/config'
import { HANG_MS } from './test/support/hang.ts'
import { LongestFirst } from './test/support/longest-first.ts'

/** Tests start real servers, stores and processes; two cores are the reference machine. Nothing is tried again. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Minutes of pauses and restarts: `npm run test:faults`. Other toolchains: `npm run test:clients`.
    exclude: ['test/faults/**', 'test/clients/**'],
    globalSetup: ['test/support/build-setup.ts', 'test/support/redis-setup.ts'],
    setupFiles: 'test/support/patient-fetch.ts',
    pool: 'forks',
    // The lock on data directories uses node:sqlite, which Node 22 still announces as experimental.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // One more than cores: what waits for a process or for time leaves its core to another.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Seven hundred modules that each file would load one by one: half of what its own start takes beside its sources.
    deps: {
      optimizer: {
        ssr: {
          enabled: true,
          include: ['typebox', 'typebox/compile', 'typebox/error', 'typebox/schema', 'typebox/system'],
        },
      },
    },
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    teardownTimeout: HANG_MS,
    expect: { poll: { timeout: HANG_MS } },
  },
})
