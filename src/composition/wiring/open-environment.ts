/** Opens an environment on this node, and handles faults in it. */
import type { CatchUps } from '#management/changes/catch-ups.ts'
import type { ReadQueues } from '#scheduling/admission.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import type { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { removalHoldMs } from '#management/environment/expiry-removal.ts'
import { LiveEnvironment } from '#management/environment/live-environment.ts'
import type { KnownEnvironment, OrganizationState } from '#management/organization/organization.ts'
import type { Store } from '#store/store.ts'
import type { Logger } from '#telemetry/log.ts'
import type { SharedIndexes } from '#threads/indexes/shared-indexes.ts'
import { createAccessEngine } from '#composition/node/access-engine.ts'

export interface EnvironmentParts {
  readonly store: Store
  readonly organization: OrganizationState
  readonly indexes: SharedIndexes
  readonly runtime: RuntimeServices
  readonly sliced: ThreadScheduler
  readonly longReads: ReadQueues
  readonly catchUps: CatchUps
  readonly auditRetentionMs: number
  readonly log: Logger
}

/**
 * Opens an environment, or closes it with a reason. A failure of its background work never ends the process.
 */
export function openEnvironment(known: KnownEnvironment, parts: EnvironmentParts): Promise<LiveEnvironment> {
  const { store, organization, indexes, auditRetentionMs, log } = parts
  const { scope, projectKey, environmentKey } = known
  const { environmentId } = scope
  const names = { environment: environmentId, project: projectKey, key: environmentKey }
  return LiveEnvironment.open({
    scope,
    auditRetentionMs,
    timeShare: parts.sliced.share(environmentId),
    longReads: parts.longReads.queue(),
    catchUps: parts.catchUps,
    indexes,
    newAccessEngine: createAccessEngine,
    expiredHoldMs: removalHoldMs(store.isShared),
    runtime: {
      ...parts.runtime,
      onBackgroundFault: error => log.error({ ...names, err: error }, 'background work failed'),
    },
    openStore: onUnreachable =>
      store.environment(environmentId, {
        begin: organization.isBegun(environmentId) ? 'never' : 'always',
        onUnreachable,
      }),
    dropStore: () => store.drop(environmentId),
    onClosed: ({ reason }, error) =>
      log.error(
        { ...names, reason, err: error },
        'an environment is closed: its decisions are rejected, others are not affected; retrying',
      ),
    onOpened: ({ reason }) => log.warn({ ...names, reason }, 'a closed environment is open again'),
  })
}
