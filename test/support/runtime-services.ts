/** Runtime services of tests: the real clocks and random values, and no listeners. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'

/** `others` replace the default services. */
export function runtimeServicesWith(others: Partial<RuntimeServices> = {}): RuntimeServices {
  return {
    now: Date.now,
    elapsedMs: () => performance.now(),
    newId: randomUUID,
    newCommitId: () => randomBytes(16),
    newSecret: () => randomBytes(32).toString('hex'),
    seal: () => null,
    attributesBytesMax: 65_536,
    onCommit: () => {},
    onBackgroundFault: () => {},
    ...others,
  }
}
