/** Configuration of vitest: the levels of tests, and how their files share processes. */
import { defineConfig } from 'vitest/config'
import { HANG_MS } from './test/support/hang.ts'

/** Levels of tests, one folder each. CONTRIBUTING.md states which level a test belongs to. */
const FOLDERS = ['test/long', 'test/faults', 'test/clients']
const clock = { testTimeout: HANG_MS, hookTimeout: HANG_MS, teardownTimeout: HANG_MS }
const shared = { extends: true as const }

/** Tests start real servers, stores and processes. No test is retried. */
export default defineConfig({
  test: {
    ...clock,
    pool: 'forks',
    // Files in a worker share its modules: importing them again for each file took one fifth of the processor
    // time.
    isolate: false,
    // One more than the cores of the reference machine: while a file waits for a process, another file can
    // use its core.
    maxWorkers: 3,
    globalSetup: ['test/support/processes/build-setup.ts', 'test/support/processes/redis-setup.ts'],
    setupFiles: 'test/support/patient-fetch.ts',
    // The lock on data directories uses node:sqlite, for which Node 22 prints an experimental warning.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    expect: { poll: { timeout: HANG_MS / 2 } },
    projects: [
      {
        ...shared,
        test: {
          name: 'first',
          include: ['test/**/*.test.ts'],
          exclude: FOLDERS.map(folder => `${folder}/**`),
        },
      },
      { ...shared, test: { name: 'long', include: ['test/long/**/*.test.ts'] } },
      { ...shared, test: { name: 'faults', include: ['test/faults/**/*.test.ts'], ...alone(1) } },
      { ...shared, test: { name: 'clients', include: ['test/clients/**/*.test.ts'], ...alone(2) } },
      // Measurements: each in its own process, one at a time.
      {
        ...shared,
        test: { name: 'claims', include: ['bench/claims/**/*.claim.ts'], isolate: true, ...alone(3) },
      },
    ],
  },
})

/** Settings of a project whose files run one at a time. */
function alone(groupOrder: number): { maxWorkers: number; sequence: { groupOrder: number } } {
  return { maxWorkers: 1, sequence: { groupOrder } }
}
