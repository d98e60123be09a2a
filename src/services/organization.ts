/**
 * What belongs to no single environment: the organization, its projects, environments and keys. It lives in an
 * environment store of its own and is created at the first start (contract B.13; D-35: secrets are kept as hashes).
 */
import type { ApiKeyRecord, EnvironmentRecord, OrganizationRecord, ProjectRecord } from '#model/records.ts'
import { AuthzError } from '#model/errors.ts'
import { lists, rowKeys } from '#store/keyspace.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { DraftCommits } from './management/commit-draft.ts'
import type { EnvironmentScope } from './management/context.ts'
import type { Draft } from './management/draft.ts'
import { RecordReader } from './management/record-reader.ts'
import type { Surroundings } from './surroundings.ts'

/** The id under which the store keeps the organization itself. */
export const ORGANIZATION_STORE_ID = 'organization'
const DEFAULT_KEY = 'default'

/** A key as the threads that check credentials know it. */
export interface KnownKey {
  readonly secretHash: string
  readonly scope: EnvironmentScope
}

/** An environment with the names by which paths may call it. */
export interface KnownEnvironment {
  readonly scope: EnvironmentScope
  readonly projectKey: string
  readonly environmentKey: string
}

export class Organization {
  readonly #store: EnvironmentStore
  readonly #surroundings: Surroundings
  readonly #commits: DraftCommits

  constructor(store: EnvironmentStore, surroundings: Surroundings) {
    this.#store = store
    this.#surroundings = surroundings
    this.#commits = new DraftCommits(store, surroundings.newCommitId)
  }

  /**
   * Makes sure there are an organization, the default project and environment, and the key with the given hash:
   * the configured one replaces the configured one of the last start. Safe to repeat after a crash at any point.
   */
  async bootstrap(configuredKeyHash: string | null): Promise<void> {
    await this.#commit(records => {
      this.#ensureDefaults(records)
      if (configuredKeyHash !== null) this.#putConfiguredKey(records, configuredKeyHash)
    })
  }

  /** Keeps the hash of the key generated at the first start. */
  async addGeneratedKey(secretHash: string): Promise<void> {
    await this.#commit(records => {
      records.put(this.#newKey(records, secretHash, 'generated'))
    })
  }

  /** Whether any environment key exists. */
  hasKeys(): boolean {
    return new RecordReader(this.#store.view).count(lists.all('api-key')) > 0
  }

  organizationId(): string {
    return this.#requireOrganization(new RecordReader(this.#store.view)).id
  }

  /** What page tokens are signed with. */
  tokenSecret(): string {
    return this.#requireOrganization(new RecordReader(this.#store.view)).tokenSecret
  }

  environments(): KnownEnvironment[] {
    const records = new RecordReader(this.#store.view)
    const organizationId = this.#requireOrganization(records).id
    const known: KnownEnvironment[] = []
    for (const environment of records.list('environment', lists.all('environment'))) {
      const project = records.byId('project', environment.projectId)
      if (!project) continue
      known.push({
        scope: { organizationId, projectId: project.id, environmentId: environment.id },
        projectKey: project.key,
        environmentKey: environment.key,
      })
    }
    return known
  }

  keys(): KnownKey[] {
    const records = new RecordReader(this.#store.view)
    const scopes = new Map(this.environments().map(({ scope }) => [scope.environmentId, scope]))
    const known: KnownKey[] = []
    for (const key of records.list('api-key', lists.all('api-key'))) {
      const scope = scopes.get(key.environmentId)
      if (scope) known.push({ secretHash: key.secretHash, scope })
    }
    return known
  }

  #ensureDefaults(records: Draft): EnvironmentRecord {
    const { newId } = this.#surroundings
    const now = this.#surroundings.now()
    const times = { createdAt: now, updatedAt: now }
    if (!records.get('organization', rowKeys.organization())) {
      const tokenSecret = this.#surroundings.newSecret()
      records.put({ kind: 'organization', id: newId(), tokenSecret } satisfies OrganizationRecord)
    }
    let project = records.get('project', rowKeys.project(DEFAULT_KEY))
    if (!project) {
      project = { kind: 'project', id: newId(), key: DEFAULT_KEY, name: 'Default project', ...times }
      records.put(project satisfies ProjectRecord)
    }
    let environment = records.get('environment', rowKeys.environment(project.id, DEFAULT_KEY))
    if (!environment) {
      const names = { key: DEFAULT_KEY, name: 'Default environment' }
      environment = { kind: 'environment', id: newId(), projectId: project.id, ...names, ...times }
      records.put(environment)
    }
    return environment
  }

  #putConfiguredKey(records: Draft, secretHash: string): void {
    const keys = [...records.list('api-key', lists.all('api-key'))]
    for (const key of keys) {
      if (key.source !== 'configured') continue
      if (key.secretHash === secretHash) return
      records.delete(key)
    }
    records.put(this.#newKey(records, secretHash, 'configured'))
  }

  #newKey(records: Draft, secretHash: string, source: ApiKeyRecord['source']): ApiKeyRecord {
    return {
      kind: 'api-key',
      id: this.#surroundings.newId(),
      environmentId: this.#ensureDefaults(records).id,
      secretHash,
      source,
      createdAt: this.#surroundings.now(),
    }
  }

  #requireOrganization(records: RecordReader): OrganizationRecord {
    const organization = records.get('organization', rowKeys.organization())
    if (!organization) throw new AuthzError('NOT_READY', 'the organization has not been created yet')
    return organization
  }

  async #commit(write: (records: Draft) => void): Promise<void> {
    await this.#commits.run(write)
  }
}
