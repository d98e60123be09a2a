/**
 * An environment with millions of facts, which are written directly into Redis through its ledger. Also
 * creates checks. Their decisions follow from the way in which the facts are created: a user can read their
 * own documents and the documents in their own folders.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { StoredRecord } from '#entities/records.ts'
import { rowKeyOf } from '#store/keyspace/keyspace.ts'
import type { Ledger } from '#store/ledger.ts'
import { decodeRecord, encodeRecord } from '#store/keyspace/record-codec.ts'
import { instanceRecord, userRecord } from '../data/bulk-store.ts'

/** Number of rows in each commit that loads the environment. */
const COMMIT_ROWS = 10_000
const CREATED_AT = 1_700_000_000_000

export interface Size {
  readonly users: number
  readonly documents: number
  readonly folders: number
  /** Direct roles on documents per user. */
  readonly documentsPerUser: number
  /** Roles on folders per user. */
  readonly foldersPerUser: number
}

/**
 * Number of facts. These are the assignments, and one tuple per document, because each document is in one
 * folder.
 */
export function factCount({ users, documents, documentsPerUser, foldersPerUser }: Size): number {
  return users * (documentsPerUser + foldersPerUser) + documents
}

/** Requests that create the required schema. */
export const SCHEMA = [
  { key: 'folder', name: 'Folder', actions: {}, roles: { viewer: { name: 'Viewer' } } },
  {
    key: 'document',
    name: 'Document',
    actions: { read: {} },
    relations: { parent: 'folder' },
    roles: {
      viewer: {
        name: 'Viewer',
        permissions: ['read'],
        granted_to: {
          users_with_role: [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }],
        },
      },
    },
  },
] as const

export class LargeEnvironment {
  readonly #ledger: Ledger
  readonly #size: Size
  readonly #schema: readonly StoredRecord[]
  readonly #userIds: string[] = []
  readonly #documentIds: string[] = []
  readonly #folderIds: string[] = []
  #rows: StoredRecord[] = []

  /** Opens an environment that contains only the schema. */
  static async open(ledger: Ledger, size: Size): Promise<LargeEnvironment> {
    const schema: StoredRecord[] = []
    for await (const rows of ledger.rows()) schema.push(...rows.map(row => decodeRecord(row)))
    return new LargeEnvironment(ledger, size, schema)
  }

  private constructor(ledger: Ledger, size: Size, schema: readonly StoredRecord[]) {
    this.#ledger = ledger
    this.#size = size
    this.#schema = schema
  }

  async addThings(): Promise<void> {
    const { users, folders, documents } = this.#size
    const tenantId = this.#idOf('tenant', 'default')
    for (let index = 0; index < users; index += 1) {
      this.#userIds.push(await this.#add(userRecord(`user-${index}`)))
    }
    for (let index = 0; index < folders; index += 1) {
      const folder = instanceRecord(`folder-${index}`, this.#idOf('type', 'folder'), tenantId)
      this.#folderIds.push(await this.#add(folder))
    }
    for (let index = 0; index < documents; index += 1) {
      const document = instanceRecord(`document-${index}`, this.#idOf('type', 'document'), tenantId)
      this.#documentIds.push(await this.#add(document))
    }
    await this.#flush()
  }

  async addFacts(): Promise<void> {
    const { users, documents, folders } = this.#size
    const tenantId = this.#idOf('tenant', 'default')
    const relationId = this.#idOf('relation', 'parent')
    for (let index = 0; index < documents; index += 1) {
      const [subjectId, objectId] = [this.#folderIds[index % folders]!, this.#documentIds[index]!]
      const tuple = { kind: 'tuple', id: randomUUID(), subjectId, relationId, objectId } as const
      await this.#add({ ...tuple, tenantId, createdAt: CREATED_AT, expiresAt: null })
    }
    const roleIds = { folder: this.#viewerOf('folder'), document: this.#viewerOf('document') }
    for (let user = 0; user < users; user += 1) {
      const userId = this.#userIds[user]!
      const scopes = [
        ...this.#documentsOf(user).map(at => ['document', this.#documentIds[at]!] as const),
        ...this.#foldersOf(user).map(at => ['folder', this.#folderIds[at]!] as const),
      ]
      for (const [type, instanceId] of scopes) {
        const assignment = { kind: 'assignment', id: randomUUID(), userId, roleId: roleIds[type] } as const
        await this.#add({ ...assignment, tenantId, instanceId, createdAt: CREATED_AT, expiresAt: null })
      }
    }
    await this.#flush()
  }

  /** Checks with their decisions. A third of the checks are about the user's own documents. */
  questions(
    count: number,
  ): { readonly user: string; readonly document: string; readonly isAllowed: boolean }[] {
    const { users, documents, folders } = this.#size
    return Array.from({ length: count }, (_, index) => {
      const user = (index * 7_919) % users
      const own = this.#documentsOf(user)
      const document = index % 3 === 0 ? own[index % own.length]! : (index * 104_729) % documents
      const isAllowed = own.includes(document) || this.#foldersOf(user).includes(document % folders)
      return { user: `user-${user}`, document: `document-${document}`, isAllowed }
    })
  }

  /**
   * Documents of a user. The step between them is a prime that does not divide the number of documents, so
   * that no user gets a document twice.
   */
  #documentsOf(user: number): number[] {
    const { documents, documentsPerUser } = this.#size
    return Array.from({ length: documentsPerUser }, (_, nth) => (user * 31 + nth * 65_537) % documents)
  }

  #foldersOf(user: number): number[] {
    const { folders, foldersPerUser } = this.#size
    return Array.from({ length: foldersPerUser }, (_, nth) => (user * 17 + nth * 257) % folders)
  }

  #idOf(kind: 'type' | 'tenant' | 'relation', key: string): string {
    return this.#schema.find(record => record.kind === kind && record.key === key)!.id
  }

  #viewerOf(type: string): string {
    const typeId = this.#idOf('type', type)
    return this.#schema.find(record => record.kind === 'role' && record.typeId === typeId)!.id
  }

  async #add(record: StoredRecord): Promise<string> {
    this.#rows.push(record)
    if (this.#rows.length === COMMIT_ROWS) await this.#flush()
    return record.id
  }

  async #flush(): Promise<void> {
    const put = this.#rows.map(record => ({ key: rowKeyOf(record), value: encodeRecord(record) }))
    this.#rows = []
    await this.#ledger.commit({ id: randomBytes(16), require: [], delete: [], put, changes: [] })
  }
}
