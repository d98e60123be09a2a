/**
 * The service of one checkout on one store, for the bench of writes. A single write creates an assignment and
 * its instance.
 */
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import { ServerProcess } from '../http/server-process.ts'
import { LoadClient, encode } from '../lib/load-generator.ts'
import { bytesInRedis, bytesOnDisk, type StoredBytes } from '../lib/stored-bytes.ts'
import { assignedBy, FOLDERS, placedBy, type Target, type Used, USERS, userOf } from '../lib/writer.ts'

const API_KEY = 'bench-key-bench-key'
const FACTS = '/v2/facts/default/default'
export const BULK = 1_000
const PAGE = 100
const ALL_CORES = '0,1'

export class WriteService implements Target {
  readonly name: string
  readonly bulkSize = BULK
  readonly #server: ServerProcess
  readonly #directory: string
  readonly #storeUrl: string | null

  /** Starts the service. If no URL is given, the service uses a new store below the directory. */
  static async start(checkout: string, storeUrl: string | null, directory: string): Promise<WriteService> {
    const script = new URL('src/start.js', `${pathToFileURL(resolve(checkout)).href}/`)
    const env = {
      API_KEY,
      PORT: '0',
      LOG_LEVEL: 'warn',
      HTTP_THREADS: '1',
      POOL_THREADS: '1',
      STORE_URL: storeUrl ?? `lmdb:${join(directory, 'data')}`,
      DATA_DIR: join(directory, 'copies'),
    }
    const server = await ServerProcess.start(script, { env, cores: ALL_CORES })
    const service = new WriteService(checkout, storeUrl, directory, server)
    await service.#arrange()
    return service
  }

  private constructor(name: string, storeUrl: string | null, directory: string, server: ServerProcess) {
    this.name = name
    this.#storeUrl = storeUrl
    this.#directory = directory
    this.#server = server
  }

  get address(): string {
    return this.#server.address
  }

  single(nth: number): Buffer {
    const { user, document } = assignedBy(nth)
    const assignment = {
      user,
      role: 'viewer',
      resource_instance: `document:${document}`,
      tenant: 'default',
    }
    return post('role_assignments', assignment)
  }

  bulk(nth: number): Buffer {
    const operations = placedBy(nth, BULK).map(({ folder, document }) => ({
      subject: `folder:${folder}`,
      relation: 'parent',
      object: `document:${document}`,
      tenant: 'default',
    }))
    return post('relationship_tuples/bulk', { operations })
  }

  used(): Used {
    return { cpuSeconds: this.#server.cpuSeconds(), diskBytes: this.#server.diskBytes() }
  }

  /**
   * Verifies that each assignment allows its own user and not another user, and that the list contains
   * exactly the written tuples.
   */
  async verify(singles: number, bulks: number): Promise<void> {
    const caller = await LoadClient.open(this.address)
    for (let from = 0; from < singles; from += 500) {
      const count = Math.min(500, singles - from)
      const questions = Array.from({ length: 2 * count }, (_, index) => {
        const nth = from + (index >> 1)
        const { user, document } = assignedBy(nth)
        return {
          user: { key: index % 2 === 0 ? user : userOf(nth + 1) },
          action: 'read',
          resource: { type: 'document', key: document, tenant: 'default' },
        }
      })
      const body = await caller.done(
        encode({ path: '/allowed/bulk', body: JSON.stringify(questions) }, API_KEY),
      )
      const { allow } = body as { readonly allow: readonly { readonly allow: boolean }[] }
      allow.forEach((each, index) => {
        if (each.allow !== (index % 2 === 0))
          throw new Error(`${this.name}: write ${from + (index >> 1)} was answered and does not decide`)
      })
    }
    const expected = new Set<string>()
    for (let nth = 0; nth < bulks; nth += 1)
      for (const { folder, document } of placedBy(nth, BULK)) expected.add(`${folder} ${document}`)
    for (let page = 1, found = PAGE; found === PAGE; page += 1) {
      const path = `${FACTS}/relationship_tuples?per_page=${PAGE}&page=${page}`
      const tuples = (await caller.done(encode({ method: 'GET', path, body: '' }, API_KEY))) as readonly {
        readonly subject: string
        readonly object: string
      }[]
      found = tuples.length
      for (const { subject, object } of tuples) {
        if (!expected.delete(`${subject.slice('folder:'.length)} ${object.slice('document:'.length)}`))
          throw new Error(`${this.name}: ${object} in ${subject} was not written, or is there twice`)
      }
    }
    if (expected.size > 0)
      throw new Error(`${this.name}: ${expected.size} tuples were answered and are not there`)
    caller.close()
  }

  /** Size of the closed store. Null if the store is in memory. */
  async stored(): Promise<StoredBytes | null> {
    await this.#server.stop()
    if (this.#storeUrl === null) return bytesOnDisk(join(this.#directory, 'data'))
    return this.#storeUrl.startsWith('redis:') ? bytesInRedis(parseRedisUrl(this.#storeUrl)) : null
  }

  async stop(): Promise<void> {
    await this.#server.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #arrange(): Promise<void> {
    const caller = await LoadClient.open(this.address)
    const schema = (body: object) =>
      caller.done(
        encode({ path: '/v2/schema/default/default/resources', body: JSON.stringify(body) }, API_KEY),
      )
    const viewer = { name: 'Viewer', permissions: ['read'] }
    const actions = { read: {} }
    await schema({ key: 'folder', name: 'Folder', actions, roles: { viewer } })
    await schema({
      key: 'document',
      name: 'Document',
      actions,
      roles: { viewer },
      relations: { parent: 'folder' },
    })
    const users = Array.from({ length: USERS }, (_, index) => ({ key: userOf(index) }))
    await caller.done(post('bulk/users', { operations: users }))
    for (let folder = 0; folder < FOLDERS; folder += 1) {
      await caller.done(
        post('resource_instances', { resource: 'folder', key: `folder-${folder}`, tenant: 'default' }),
      )
    }
    caller.close()
  }
}

function post(path: string, body: object): Buffer {
  return encode({ path: `${FACTS}/${path}`, body: JSON.stringify(body) }, API_KEY)
}
