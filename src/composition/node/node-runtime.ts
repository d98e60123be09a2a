/** Provides the clock, ids and randomness of this process to services. */
import { randomBytes } from 'node:crypto'
import type { Config } from '#config/settings.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { PURPOSE, Seal } from '#secrets/seal.ts'
import { commitIds } from '#composition/process/commit-ids.ts'
import { TimeOrderedIds } from '#composition/process/time-ordered-ids.ts'

export function runtimeServicesOf(
  { attributesBytesMax, adminApiKey }: Pick<Config, 'attributesBytesMax' | 'adminApiKey'>,
  events: Pick<RuntimeServices, 'onCommit' | 'onBackgroundFault'>,
): RuntimeServices {
  const ids = new TimeOrderedIds(Date.now)
  const secrets = new Seal(adminApiKey, PURPOSE.proxyConfigs)
  return {
    now: Date.now,
    elapsedMs: () => performance.now(),
    newId: () => ids.next(),
    newCommitId: commitIds(),
    newSecret: () => randomBytes(32).toString('hex'),
    seal: (ownerId, secret) => secrets.seal(ownerId, secret),
    attributesBytesMax,
    ...events,
  }
}
