/**
 * An environment on disk, filled straight through its ledger: commits of many rows that no engine hears of, since what is
 * measured is management alone. Whatever is loaded is checked by reading it back through the operations.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RoleRecord, StoredRecord, TypeRecord } from '#model/records.ts'
import { EnvironmentService } from '#services/environment-service.ts'
import { listRule, rowKeyOf } from '#store/keyspace.ts'
import { openStore } from '#store/open-store.ts'
import { encodeRecord } from '#store/record-codec.ts'
import type { EnvironmentStore, Store } from '#store/store.ts'

/** Rows in one commit of the load. */
const COMMIT_ROWS = 20_000
const scope = { organizationId: randomUUID(), projectId: randomUUID(), environmentId: randomUUID() }
const times = { createdAt: 0, updatedAt: 0 }

export class BulkStore {
  readonly service: EnvironmentService
  readonly environment: EnvironmentStore
  readonly #store: Store
  readonly #directory: string
  #rows: StoredRecord[] = []

  static async open(): Promise<BulkStore> {
    const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-'))
    const store = await openStore(`lmdb:${directory}`, listRule)
    return new BulkStore(store, await store.environment('bench'), directory)
  }

  private constructor(store: Store, environment: EnvironmentStore, directory: string) {
    this.#store = store
    this.#directory = directory
    this.environment = environment
    this.service = new EnvironmentService({
      store: environment,
      scope,
      surroundings: {
        now: Date.now,
        elapsedMs: () => performance.now(),
        newId: randomUUID,
        newCommitId: () => randomBytes(16),
        newSecret: () => randomBytes(32).toString('hex'),
        onBackgroundFault: error => {
          throw error
        },
      },
      whenVisible: () => Promise.resolve(),
    })
  }

  async add(record: StoredRecord): Promise<void> {
    this.#rows.push(record)
    if (this.#rows.length === COMMIT_ROWS) await this.flush()
  }

  async flush(): Promise<void> {
    const put = this.#rows.map(record => ({ key: rowKeyOf(record), value: encodeRecord(record) }))
    this.#rows = []
    await this.environment.ledger.commit({ id: randomBytes(16), require: [], delete: [], put, changes: [] })
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
  return { kind: 'type', id: randomUUID(), key, name: key, ...empty, ...parts, ...times }
}

export function roleRecord(key: string, typeId: string | null): RoleRecord {
  const grantedTo = { id: randomUUID(), guarded: false, entries: [] }
  const parts = { description: null, permissions: [], extends: [], attributes: null, grantedTo }
  return { kind: 'role', id: randomUUID(), typeId, key, name: key, ...parts, ...times }
}

export function tenantRecord(key: string) {
  const parts = { name: key, description: null, attributes: null }
  return { kind: 'tenant', id: randomUUID(), key, ...parts, ...times } as const
}

export function userRecord(key: string) {
  const profile = { email: null, firstName: null, lastName: null, attributes: {} }
  return { kind: 'user', id: randomUUID(), key, ...profile, ...times } as const
}

export function instanceRecord(key: string, typeId: string, tenantId: string) {
  const parts = { typeId, key, tenantId, attributes: {}, isGroup: false }
  return { kind: 'instance', id: randomUUID(), ...parts, ...times } as const
}

export function relationRecord(key: string, typeId: string, subjectTypeId: string) {
  const parts = { typeId, key, name: key, description: null, subjectTypeId, groupUse: null, retiring: false }
  return { kind: 'relation', id: randomUUID(), ...parts, ...times } as const
}
