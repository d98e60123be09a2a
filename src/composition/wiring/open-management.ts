/**
 * Opens management on this node: the open environments, the operations of the organization, copies and
 * imports.
 */
import type { Config } from '#config/settings.ts'
import { ReadQueues } from '#scheduling/admission.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import { CatchUps } from '#management/changes/catch-ups.ts'
import { ChangeStreams } from '#management/changes/change-streams.ts'
import { AuditRetention } from '#management/audit/audit-retention.ts'
import { ManagementService } from '#management/management-service.ts'
import { EnvironmentCopies } from '#management/organization/environment-copies.ts'
import { EnvironmentImports } from '#management/organization/environment-imports.ts'
import type { KeyUses } from '#management/organization/key-uses.ts'
import { OpenEnvironments } from '#management/organization/environment-opening.ts'
import { OrganizationService } from '#management/organization/organization-service.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import type { SignInCounts } from '#model/sign-in/sign-in-counts.ts'
import type { Principal } from '#model/principal.ts'
import type { Replica } from '#replica/replica.ts'
import type { Store } from '#store/store.ts'
import type { Logger } from '#telemetry/log.ts'
import type { HttpThreads } from '#threads/channel/http-threads.ts'
import type { SharedIndexes } from '#threads/indexes/shared-indexes.ts'
import { AuditTrimming } from '#composition/node/audit-trimming.ts'
import { LapsedMemberRemoval } from '#composition/node/lapsed-member-removal.ts'
import { memberSettings } from '#composition/node/member-settings.ts'
import { chooseContentLoader } from '#composition/node/choose-content-loader.ts'
import { openEnvironment } from './open-environment.ts'
import { openSignIn } from './open-sign-in.ts'
import type { OpenOrganization } from './open-organization.ts'
import { StoreBackups } from '#composition/node/store-backups.ts'

export interface ManagementParts {
  readonly config: Config
  readonly log: Logger
  readonly store: Store
  readonly runtime: RuntimeServices
  readonly open: OpenOrganization
  readonly indexes: SharedIndexes
  readonly threads: HttpThreads
  readonly keyUses: KeyUses
  /** Null if sign-in is not configured. */
  readonly signInCounts: SignInCounts | null
}

/** Management of a node that follows the organization, and the background work that belongs to it. */
export interface OpenManagement {
  readonly environments: OpenEnvironments
  /** `follower` reports when a commit of the organization has taken effect. */
  serve(follower: Replica): {
    readonly organization: OrganizationService
    readonly management: ManagementService
    readonly trimming: AuditTrimming
    readonly lapsedMembers: LapsedMemberRemoval
  }
}

/** The caller of commits by the service itself. */
const SERVICE: Principal = { kind: 'organization', organizationId: '', keyId: null, level: 'admin' }

export function openManagement(parts: ManagementParts): OpenManagement {
  const { config, log, store, runtime, open, indexes, threads, keyUses, signInCounts } = parts
  const { organization, secrets, credentialsFor } = open
  const sliced = new ThreadScheduler(new TimeBudget('main'))
  const longReads = new ReadQueues()
  const catchUps = new CatchUps(config.changeStreamsBytesMax / 2)
  const auditRetentionMs = config.auditRetentionDays * 86_400_000
  const environmentParts = {
    store,
    organization,
    indexes,
    runtime,
    sliced,
    longReads,
    catchUps,
    auditRetentionMs,
    log,
  }
  const environments = new OpenEnvironments({
    organization,
    open: known => openEnvironment(known, environmentParts),
    drop: environmentId => store.drop(environmentId),
    discardCopies: ({ except }) =>
      store.discardCopies({ except: new Set([ORGANIZATION_STORE_ID, ...except]) }),
    mayNote: () => !store.isAlone,
    replaceSecrets: known => threads.replaceCredentials(credentialsFor(known)),
    onFault: error => log.error({ err: error }, 'an environment could not be opened or removed'),
  })
  const serve = (follower: Replica) => {
    const { onBackgroundFault: onFault } = runtime
    const service = new OrganizationService({
      organization,
      runtime,
      secrets,
      keyOverlapSeconds: config.keyOverlapSeconds,
      closureOf: environmentId => environments.closureOf(environmentId),
      recordsOf: environmentId => environments.recordsOf(environmentId),
      lastUseOf: keyUses.lastUseOf,
      members: memberSettings(config),
      sessions: open.sessions && open.sessions.context,
      timeShare: sliced.share(ORGANIZATION_STORE_ID),
      whenInForce: revision => follower.whenVisible(revision),
    })
    const retention = new AuditRetention(open.store, runtime, auditRetentionMs)
    const trimming = new AuditTrimming(retention, environments, onFault)
    const mayWrite = (): boolean => !store.isAlone
    const lapsedMembers = new LapsedMemberRemoval({
      service,
      organizationId: () => organization.organizationId(),
      mayWrite,
      onFault,
    })
    keyUses.begin(organization, { mayWrite, onFault })
    open.sessions?.uses.begin(command => service.commit(SERVICE, command), { mayWrite, onFault })
    const copies = new EnvironmentCopies(service, environments, onFault)
    const imports = new EnvironmentImports({
      organization: service,
      environments,
      loader: chooseContentLoader(store, runtime, config.importBytesMax),
      drop: id => store.drop(id),
      onFault,
    })
    const backups = new StoreBackups({
      store,
      organization: open.store,
      environmentIds: () => environments.all().map(({ scope }) => scope.environmentId),
    })
    const streams = new ChangeStreams(
      {
        streamsMax: config.changeStreamsMax,
        streamsPerKeyMax: config.changeStreamsPerKeyMax,
        effectiveEnvironmentsMax: config.effectiveEnvironmentsMax,
        waitMs: config.minRevisionWaitMs,
      },
      environmentId => store.stalenessMs(environmentId),
    )
    const management = new ManagementService({
      environments,
      organization: service,
      copies,
      imports,
      backups,
      streams,
      signIn:
        signInCounts && openSignIn({ config, log, runtime, organization, service, counts: signInCounts }),
    })
    return { organization: service, management, trimming, lapsedMembers }
  }
  return { environments, serve }
}
