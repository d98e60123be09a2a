/** The clock, ids and randomness of this process, as services take them from the outside world. */
import { randomBytes } from 'node:crypto'
import type { Config } from '#config/config.ts'
import type { Surroundings } from '#management/commands/surroundings.ts'
import { TimeOrderedIds } from './time-ordered-ids.ts'

export function surroundingsOf(
  { attributesBytesMax }: Pick<Config, 'attributesBytesMax'>,
  events: Pick<Surroundings, 'onCommit' | 'onBackgroundFault'>,
): Surroundings {
  const ids = new TimeOrderedIds(Date.now)
  return {
    now: Date.now,
    elapsedMs: () => performance.now(),
    newId: () => ids.next(),
    newCommitId: () => randomBytes(16),
    newSecret: () => randomBytes(32).toString('hex'),
    attributesBytesMax,
    ...events,
  }
}
