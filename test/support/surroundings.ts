/** What services take from the world around them: the real clocks, real random values, and nobody who listens. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Surroundings } from '#management/commands/surroundings.ts'

/** `others` says what a test has instead. */
export function surroundingsWith(others: Partial<Surroundings> = {}): Surroundings {
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
