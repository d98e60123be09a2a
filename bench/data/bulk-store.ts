/**
 * Environments on disk that are filled directly through their ledger, with commits of many rows. No engine is
 * notified of these commits. The data is verified by reading it through the operations of management, or by a
 * service that starts on it.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TimeOrderedIds } from '#composition/process/time-ordered-ids.ts'
import { recordFrom } from '#entities/entity.ts'
import { EnvironmentService } from '#management/environment/environment-service.ts'
import type { RoleRecord, TypeRecord } from '#entities/records.ts'
import { TENANT } from '#entities/tenant.ts'
import { USER } from '#entities/user.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import type { EnvironmentStore, Store } from '#store/store.ts'
import { RowLoader } from '#testing/processes/row-loader.ts'

const ids = new TimeOrderedIds(Date.now)
const scope = { organizationId: newId(), projectId: newId(), environmentId: newId(), createdAt: 0 }
const times = { createdAt: 0, updatedAt: 0 }

/** An id in the format of the service. */
export function newId(): string {
  return ids.next()
}

/** An environment that has operations but no engine. Used to measure management alone. */
export class BulkStore {
  readonly service: EnvironmentService
  readonly loader: RowLoader
  readonly #store: Store
  readonly #directory: string

  static async open(): Promise<BulkStore> {
    const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-'))
    const store = await openStore(`lmdb:${directory}`, listRule)
    return new BulkStore(store, await store.environment('bench'), directory)
  }

  private constructor(store: Store, environment: EnvironmentStore, directory: string) {
    this.#store = store
    this.#directory = directory
    this.loader = new RowLoader(environment.ledger)
    this.service = new EnvironmentService({
      store: environment,
      scope,
      runtime: {
        now: Date.now,
        elapsedMs: () => performance.now(),
        newId,
        newCommitId: () => randomBytes(16),
        newSecret: () => randomBytes(32).toString('hex'),
        seal: () => null,
        attributesBytesMax: 65_536,
        onCommit: () => {},
        onBackgroundFault: error => {
          throw error
        },
      },
      whenVisible: () => Promise.resolve(),
    })
  }

  async close(): Promise<void> {
    await this.service.close()
    await this.#store.close()
    rmSync(this.#directory, { recursive: true })
  }
}

export function typeRecord(key: string): TypeRecord {
  const empty = { urn: null, description: null, typeAttributes: null }
  const parts = { actions: [], attributes: [], actionGroups: [] }
  return { kind: 'type', id: newId(), key, name: key, ...empty, ...parts, ...times }
}

export function roleRecord(key: string, typeId: string | null): RoleRecord {
  const grantedTo = { id: newId(), guarded: false, entries: [] }
  const parts = { description: null, permissions: [], extends: [], attributes: null, grantedTo }
  return { kind: 'role', id: newId(), typeId, key, name: key, ...parts, ...times }
}

export function tenantRecord(key: string) {
  return { kind: 'tenant', id: newId(), key, ...recordFrom(TENANT, { name: key }), ...times } as const
}

export function userRecord(key: string) {
  return { kind: 'user', id: newId(), key, ...recordFrom(USER, {}), ...times } as const
}

export function instanceRecord(key: string, typeId: string, tenantId: string) {
  const parts = { typeId, key, tenantId, attributes: {}, isGroup: false }
  return { kind: 'instance', id: newId(), ...parts, ...times } as const
}

export function relationRecord(key: string, typeId: string, subjectTypeId: string) {
  const parts = { typeId, key, name: key, description: null, subjectTypeId, groupUse: null, retiring: false }
  return { kind: 'relation', id: newId(), ...parts, ...times } as const
}
