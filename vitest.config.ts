import { defineConfig } from 'vitest/config'
import { HANG_MS } from './test/support/hang.ts'

/** Levels of tests, each a folder. CONTRIBUTING.md states which level a test belongs to. */
const FOLDERS = ['test/long', 'test/faults', 'test/clients']
const clock = { testTimeout: HANG_MS, hookTimeout: HANG_MS, teardownTimeout: HANG_MS }
const shared = { extends: true as const }

/** Tests start real servers, stores and processes. No test is retried. */
export default defineConfig({
  test: {
    ...clock,
    pool: 'forks',
    // Files of a worker share its modules: a fifth of the processor time was the import of the same modules by each file.
    isolate: false,
    // One more than the cores of the reference machine: a file that waits for a process leaves its core to another file.
    maxWorkers: 3,
    globalSetup: ['test/support/build-setup.ts', 'test/support/redis-setup.ts'],
    setupFiles: 'test/support/patient-fetch.ts',
    // The lock on data directories uses node:sqlite, which Node 22 still announces as experimental.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    expect: { poll: { timeout: HANG_MS } },
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
      // Measurements: each in a process of its own, and one at a time.
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
