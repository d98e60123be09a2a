import { defineConfig } from 'vitest/config'
import { HANG_MS } from './test/support/hang.ts'

/** Published clients in other languages, from their registries. Each is skipped where its toolchain or registry is not at hand. */
export default defineConfig({
  test: {
    include: ['test/clients/**/*.test.ts'],
    globalSetup: ['test/support/build-setup.ts'],
    setupFiles: 'test/support/patient-fetch.ts',
    pool: 'forks',
    // The lock on data directories uses node:sqlite, which Node 22 still announces as experimental.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    maxWorkers: 1,
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    teardownTimeout: HANG_MS,
  },
})
