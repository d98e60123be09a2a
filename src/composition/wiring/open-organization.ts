/** Opens the organization of this node from its own store. */
import type { Config } from '#config/settings.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { OrganizationState, ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { ApiKeySecrets } from '#secrets/api-key-secrets.ts'
import type { EnvironmentStore, Store } from '#store/store.ts'
import { endRestoredSessions } from '#composition/node/restored-sessions.ts'
import { NodeSessions } from '#composition/node/node-sessions.ts'
import { credentialsOf } from '#composition/node/thread-credentials.ts'

export interface OpenOrganization {
  readonly organization: OrganizationState
  readonly store: EnvironmentStore
  readonly secrets: ApiKeySecrets
  readonly credentialsFor: ReturnType<typeof credentialsOf>
  /** Null if sign-in is not configured. */
  readonly sessions: NodeSessions | null
}

/** Creates the organization if it does not exist. */
export async function openOrganization(
  store: Store,
  runtime: RuntimeServices,
  config: Config,
): Promise<OpenOrganization> {
  const secrets = new ApiKeySecrets(config.adminApiKey)
  const organizationStore = await store.environment(ORGANIZATION_STORE_ID, { begin: 'before-others' })
  const organization = new OrganizationState(organizationStore, runtime, secrets)
  await organization.bootstrap(config, store)
  await endRestoredSessions(store, organization)
  const adminHash = config.adminApiKey === null ? null : secrets.hash(config.adminApiKey)
  const credentialsFor = credentialsOf(organization, adminHash)
  const sessions = NodeSessions.of(config, organization, runtime)
  return { organization, store: organizationStore, secrets, credentialsFor, sessions }
}
