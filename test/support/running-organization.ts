/** The rows and operations of an organization without open environments. */
import { onTestFinished } from 'vitest'
import { ApiKeySecrets } from '#secrets/api-key-secrets.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { environmentNotOpen } from '#management/scopes/organization-context.ts'
import type { MemberSettings } from '#management/scopes/member-settings.ts'
import { OrganizationState } from '#management/organization/organization.ts'
import { OrganizationService } from '#management/organization/organization-service.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { runtimeServicesWith } from './runtime-services.ts'

const apiKey = 'a-configured-key-for-tests'
export const ORGANIZATION_KEYS = { apiKey, apiKeyAccessLevel: 'admin', adminApiKey: null } as const

interface Options {
  /** Registers the end of the organization; absent: it ends with the test. */
  readonly onEnd?: (close: () => Promise<void>) => void
  /** Absent: members cannot sign in. */
  readonly members?: MemberSettings
  readonly runtime?: Partial<RuntimeServices>
  /** Last use of a session that its row does not have yet. */
  readonly lastUseOf?: (sessionId: string) => number | null
  /** Resolves when all committed changes have taken effect. */
  readonly whenInForce?: () => Promise<void>
}

export async function organizationService(url = 'memory:', options: Options = {}) {
  const store = await openStore(url, listRule)
  const onEnd = options.onEnd ?? onTestFinished
  onEnd(() => store.close())
  const runtime = runtimeServicesWith(options.runtime)
  const secrets = new ApiKeySecrets(null)
  const organizationStore = await store.environment('organization')
  /** Opens the organization again, as another start would. */
  const open = (on: EnvironmentStore = organizationStore) => new OrganizationState(on, runtime, secrets)
  const organization = open()
  await organization.bootstrap(ORGANIZATION_KEYS, { isShared: store.isShared, isAlone: false })
  const service = new OrganizationService({
    organization,
    runtime,
    secrets,
    keyOverlapSeconds: 0,
    closureOf: () => null,
    recordsOf: environmentNotOpen,
    lastUseOf: () => null,
    members: options.members ?? null,
    sessions: options.members
      ? { sessionIdleMs: 1_800_000, lastUseOf: options.lastUseOf ?? (() => null) }
      : null,
    whenInForce: options.whenInForce ?? (() => Promise.resolve()),
  })
  const { organizationId } = organization.environments()[0]!.scope
  const principal = { kind: 'organization', level: 'admin', organizationId, keyId: null } as const
  return { store, runtime, secrets, organizationStore, open, organization, service, principal }
}
