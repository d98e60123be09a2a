/**
 * Data outside the environments: the organization, its projects, environments and keys, in a separate store.
 * It is created at the first start; the operator's settings are applied at every start (native.md B.13,
 * D-35).
 */
import { DraftCommits } from '#management/drafts/commit-draft.ts'
import type { EnvironmentScope } from '#management/drafts/context.ts'
import type { Draft } from '#management/drafts/draft.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { AuthzError } from '#model/errors.ts'
import type { OrganizationPlaceNames } from '#model/members/organization-places.ts'
import type { AccessLevel, Principal } from '#model/principal.ts'
import type { Instant } from '#entities/instant.ts'
import type { ApiKeyRecord, EnvironmentRecord, ProjectRecord } from '#entities/organization-records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { addApiKey } from './api-keys.ts'
import { isAbandonedCopy, removeEnvironment } from './environments.ts'
import type { KeySecrets } from '#management/scopes/key-secrets.ts'
import {
  environmentNotOpen,
  type OrganizationWriteContext,
  requireOrganization,
} from '#management/scopes/organization-context.ts'

/** The id of the organization's own store. */
export const ORGANIZATION_STORE_ID = 'organization'
const DEFAULT_KEY = 'default'

/** A secret for the verification of credentials: its hash, its principal and its validity. */
export interface KnownSecret {
  readonly hash: string
  readonly principal: Principal
  /** Null if it is valid until it is revoked. */
  readonly validUntil: number | null
}

/** An environment, with the names that paths can use for it. */
export interface KnownEnvironment {
  readonly scope: EnvironmentScope
  readonly projectKey: string
  readonly environmentKey: string
  /** Whether it is an incomplete copy, which no path can name yet. */
  readonly isHidden: boolean
  /** Whether its store is still being filled, so that it must not be opened. */
  readonly isBeingLoaded: boolean
}

/** The keys in the settings. */
export interface ConfiguredKeys {
  readonly apiKey: string | null
  readonly adminApiKey: string | null
  /** Level of `apiKey`. */
  readonly apiKeyAccessLevel: AccessLevel
}

export class OrganizationState {
  readonly store: EnvironmentStore
  readonly commits: DraftCommits
  readonly #runtime: RuntimeServices
  readonly #secrets: KeySecrets

  constructor(store: EnvironmentStore, runtime: RuntimeServices, secrets: KeySecrets) {
    this.store = store
    this.commits = new DraftCommits(store, runtime)
    this.#runtime = runtime
    this.#secrets = secrets
  }

  /**
   * Applies the settings, in one commit. At the first start, creates the organization with its default
   * environment. Makes the key in `API_KEY` the only key of the operator; it also replaces the key that was
   * generated at the first start. Without `API_KEY`, removes the previously configured key.
   *
   * Then removes copies that were abandoned. If no other node has the store open, these are all incomplete
   * copies. If other nodes have it open (`isShared`), only copies that are older than the maximum duration of
   * a copy are removed. If the store is unavailable (`isAlone`) or rejects changes, the copies stay; no path
   * can name them.
   *
   * Throws `INVALID_INPUT` if a configured key is the secret of another key.
   */
  async bootstrap(
    { apiKey, adminApiKey, apiKeyAccessLevel }: ConfiguredKeys,
    { isShared, isAlone }: { readonly isShared: boolean; readonly isAlone: boolean },
  ): Promise<void> {
    await this.commits.run(records => {
      const context = this.#context(records)
      this.#ensureOrganization(records)
      this.#replaceOperatorsKey(context, apiKey, apiKeyAccessLevel)
      for (const [name, secret] of [
        ['API_KEY', apiKey],
        ['ADMIN_API_KEY', adminApiKey],
      ] as const) {
        if (secret !== null) this.#requireUnused(records, name, secret)
      }
    })
    if (!isAlone) await this.#removeHalfMade(isShared)
  }

  async #removeHalfMade(isShared: boolean): Promise<void> {
    try {
      await this.commits.run(records => {
        const context = this.#context(records)
        const environments = [...records.list('environment', lists.all('environment'))]
        for (const environment of environments) {
          const isLeft = environment.isBeingCopied && (!isShared || isAbandonedCopy(context, environment))
          if (isLeft) removeEnvironment(context, environment)
        }
      })
    } catch (error) {
      // A full disk must not prevent the start. The next start removes the abandoned copies.
      if (!(error instanceof AuthzError) || error.code !== 'STORE_REFUSED') throw error
    }
  }

  /**
   * Whether the organization exists. It does not exist in a history that another node has started and not
   * filled yet.
   */
  isThere(): boolean {
    return this.#records().get('organization', rowKeys.organization()) !== null
  }

  /** Whether the first start has not been completed. */
  isNew(): boolean {
    return !requireOrganization(this.#records()).isSetUp
  }

  /** Whether there is any key. */
  hasKeys(): boolean {
    return this.#records().count(lists.all('api-key')) > 0
  }

  /** Creates a key of the default environment and returns its secret. This completes the first start. */
  async addGeneratedKey(): Promise<string> {
    const { answer } = await this.commits.run(records => {
      const { id } = this.#ensureDefaults(records)
      this.#markSetUp(records)
      return addApiKey(this.#context(records), {
        environmentId: id,
        projectId: null,
        source: 'generated',
      }).secret
    })
    return answer
  }

  /** Deletes the record of a removed environment after its data has been deleted. */
  async forgetRemoved(environmentId: string): Promise<void> {
    await this.commits.run(records => {
      const removed = records.get('removed-environment', rowKeys.removedEnvironment(environmentId))
      if (removed) records.delete(removed)
    })
  }

  /** Whether it is recorded that the environment has commits. */
  isBegun(environmentId: string): boolean {
    return this.#records().byId('environment', environmentId)?.isBegun === true
  }

  /** Records that these environments have commits. */
  async noteBegun(environmentIds: readonly string[]): Promise<void> {
    await this.commits.run(records => {
      for (const id of environmentIds) {
        const environment = records.byId('environment', id)
        if (environment && environment.isBegun !== true) records.put({ ...environment, isBegun: true })
      }
    })
  }

  /** Ends all sessions. */
  async endSessions(): Promise<void> {
    await this.commits.run(records =>
      records.visit('session', lists.all('session'), session => records.delete(session)),
    )
  }

  /** Records when keys were last used. A later recorded use stays, and removed keys are ignored. */
  async noteUses(uses: ReadonlyMap<string, Instant>): Promise<void> {
    await this.commits.run(records => {
      for (const [keyId, lastUsedAt] of uses) {
        const key = records.get('api-key', rowKeys.apiKey(keyId))
        if (key && lastUsedAt > (key.lastUsedAt ?? 0)) records.put({ ...key, lastUsedAt })
      }
    })
  }

  organizationId(): string {
    return requireOrganization(this.#records()).id
  }

  /** The secret that signs page tokens. */
  tokenSecret(): string {
    return requireOrganization(this.#records()).tokenSecret
  }

  /** All environments in creation order. */
  environments(): KnownEnvironment[] {
    const records = this.#records()
    const organizationId = requireOrganization(records).id
    const known: KnownEnvironment[] = []
    for (const environment of records.list('environment', lists.all('environment'))) {
      const project = records.byId('project', environment.projectId)
      if (!project) continue
      known.push({
        scope: {
          organizationId,
          projectId: project.id,
          environmentId: environment.id,
          createdAt: environment.createdAt,
        },
        projectKey: project.key,
        environmentKey: environment.key,
        isHidden: environment.isBeingCopied,
        isBeingLoaded: environment.isBeingLoaded === true,
      })
    }
    return known
  }

  /** Names of all projects and environments that paths can use. */
  placeNames(): OrganizationPlaceNames {
    const records = this.#records()
    const projects = records.list('project', lists.all('project'))
    return {
      organizationId: requireOrganization(records).id,
      projects: Array.from(projects, ({ id, key }) => ({ projectId: id, projectKey: key })),
      environments: this.environments().flatMap(({ scope, projectKey, environmentKey, isHidden }) => {
        const { projectId, environmentId } = scope
        return isHidden ? [] : [{ projectId, projectKey, environmentId, environmentKey }]
      }),
    }
  }

  /** Ids of removed environments whose data must still be deleted. */
  removedEnvironmentIds(): string[] {
    const removed = this.#records().list('removed-environment', lists.all('removed-environment'))
    return Array.from(removed, ({ id }) => id)
  }

  /** All valid secrets. Former secrets include their expiration times. */
  secrets(): KnownSecret[] {
    const records = this.#records()
    const environments = new Map(this.environments().map(known => [known.scope.environmentId, known]))
    const organizationId = requireOrganization(records).id
    const known: KnownSecret[] = []
    for (const key of records.list('api-key', lists.all('api-key'))) {
      const principal = principalOf(key)
      if (!principal) continue
      known.push({ hash: key.secretHash, principal, validUntil: null })
      if (key.former) {
        known.push({ hash: key.former.hash, principal, validUntil: key.former.validUntil })
      }
    }
    return known

    function principalOf({
      id: keyId,
      accessLevel: level,
      environmentId,
      projectId,
      delegation,
    }: ApiKeyRecord): Principal | null {
      if (environmentId !== null) {
        const environment = environments.get(environmentId)
        if (!environment || environment.isHidden) return null
        const { scope, projectKey, environmentKey } = environment
        const principal = { kind: 'environment', keyId, level, ...scope, projectKey, environmentKey } as const
        return delegation === null ? principal : { ...principal, delegations: [delegation] }
      }
      if (projectId === null) return { kind: 'organization', keyId, level, organizationId }
      const project = records.byId('project', projectId)
      return project && { kind: 'project', keyId, level, organizationId, projectId, projectKey: project.key }
    }
  }

  #ensureOrganization(records: Draft): void {
    if (records.get('organization', rowKeys.organization())) return
    const { newId, newSecret } = this.#runtime
    records.put({ kind: 'organization', id: newId(), tokenSecret: newSecret(), isSetUp: false })
    this.#ensureDefaults(records)
  }

  #ensureDefaults(records: Draft): EnvironmentRecord {
    const { newId } = this.#runtime
    const now = this.#runtime.now()
    const times = { createdAt: now, updatedAt: now }
    let project = records.get('project', rowKeys.project(DEFAULT_KEY))
    if (!project) {
      const names = { key: DEFAULT_KEY, name: 'Default project', description: null }
      const rest = { urnNamespace: null, settings: null, activePolicyRepoId: null }
      project = { kind: 'project', id: newId(), ...names, ...rest, ...times } satisfies ProjectRecord
      records.put(project)
    }
    let environment = records.get('environment', rowKeys.environment(project.id, DEFAULT_KEY))
    if (!environment) {
      const names = { key: DEFAULT_KEY, name: 'Default environment', description: null }
      const rest = {
        customBranchName: null,
        jwks: null,
        settings: null,
        isBeingCopied: false,
        isBeingLoaded: false,
        isBegun: false,
      }
      environment = { kind: 'environment', id: newId(), projectId: project.id, ...names, ...rest, ...times }
      records.put(environment)
    }
    return environment
  }

  #markSetUp(records: Draft): void {
    const organization = requireOrganization(records)
    if (!organization.isSetUp) records.put({ ...organization, isSetUp: true })
  }

  /**
   * Replaces the operator's former key by the configured key, so that a leaked key is revoked at the next
   * start.
   */
  #replaceOperatorsKey(
    context: OrganizationWriteContext,
    secret: string | null,
    accessLevel: AccessLevel,
  ): void {
    const { records } = context
    const keys = [...records.list('api-key', lists.all('api-key'))]
    if (keys.length > 0 || secret !== null) this.#markSetUp(records)
    const hash = secret === null ? null : this.#secrets.hash(secret)
    let isThere = false
    for (const key of keys) {
      if (key.source === 'created' || (key.source === 'generated' && secret === null)) continue
      if (key.source === 'configured' && key.secretHash === hash) {
        isThere = true
        this.#refresh(records, { ...key, accessLevel }, secret!)
      } else {
        records.delete(key)
      }
    }
    if (secret === null || isThere) return
    const { id } = this.#ensureDefaults(records)
    addApiKey(context, { environmentId: id, projectId: null, source: 'configured', secret, accessLevel })
  }

  /**
   * Stores the configured key if its level has changed. Encrypts it again if the encryption key of the
   * organization has changed. This is possible because the configured key is known in plain text.
   */
  #refresh(records: Draft, key: ApiKeyRecord, secret: string): void {
    const isSealed = key.sealedSecret && this.#secrets.unseal(key.id, key.sealedSecret) === secret
    const sealedSecret = isSealed ? null : this.#secrets.seal(key.id, secret)
    const before = records.get('api-key', rowKeys.apiKey(key.id))
    if (sealedSecret) records.put({ ...key, sealedSecret })
    else if (before?.accessLevel !== key.accessLevel) records.put(key)
  }

  /**
   * Requires that no other key has this secret. A secret with two meanings would give its owner the larger of
   * the two scopes.
   */
  #requireUnused(records: Draft, name: keyof typeof SOURCES, secret: string): void {
    const hash = this.#secrets.hash(secret)
    for (const key of records.list('api-key', lists.all('api-key'))) {
      if (key.source === SOURCES[name] || (key.secretHash !== hash && key.former?.hash !== hash)) continue
      const message = `setting ${name}: expected a different secret, this is the secret of API key ${key.id}`
      throw new AuthzError('INVALID_INPUT', message)
    }
  }

  #records(): RecordReader {
    return new RecordReader(this.store.view)
  }

  #context(records: Draft): OrganizationWriteContext {
    const organization = records.get('organization', rowKeys.organization())
    return {
      records,
      principal: {
        kind: 'organization',
        keyId: null,
        level: 'admin',
        organizationId: organization?.id ?? '',
      },
      now: this.#runtime.now(),
      newId: this.#runtime.newId,
      secrets: this.#secrets,
      keyOverlapSeconds: 0,
      closureOf: () => null,
      recordsOf: environmentNotOpen,
      lastUseOf: () => null,
      members: null,
      sessions: null,
    }
  }
}

/** The sources of keys that come from settings. */
const SOURCES = { API_KEY: 'configured', ADMIN_API_KEY: null } as const
