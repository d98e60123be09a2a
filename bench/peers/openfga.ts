/** The OpenFGA server, over HTTP. One fact is one tuple. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Query } from '../../src/model/decision.ts'
import { binaryOf, OPENFGA, titleOf } from './go-servers.ts'
import {
  type Facts,
  type PeerRequest,
  type Relationship,
  relationshipsOf,
  type WritablePeer,
} from './peer.ts'
import { freePort, type JsonClient, PeerServer } from './peer-server.ts'

/** Default limit of tuples in one write request. */
const TUPLES_A_WRITE = 100

const one = (relation: string) => ({ computedUserset: { relation } })
const above = (relation: string) => ({
  tupleToUserset: { tupleset: { relation: 'parent' }, computedUserset: { relation } },
})
const held = (...types: object[]) => ({ directly_related_user_types: types })
const [user, members] = [{ type: 'user' }, { type: 'group', relation: 'member' }]
/**
 * Relations of a document or folder. Only actions are inherited from the parent folder, each separately. If
 * roles were inherited as well, they would be searched twice as often.
 */
const tree = (type: string) => ({
  type,
  relations: {
    parent: { this: {} },
    viewer: { this: {} },
    editor: { this: {} },
    owner: { this: {} },
    read: { union: { child: [one('viewer'), one('editor'), one('owner'), above('read')] } },
    write: { union: { child: [one('editor'), one('owner'), above('write')] } },
    delete: { union: { child: [one('owner'), above('delete')] } },
  },
  metadata: {
    relations: {
      parent: held({ type: 'folder' }),
      viewer: held(user, members),
      editor: held(user, members),
      owner: held(user),
    },
  },
})
const MODEL = {
  schema_version: '1.1',
  type_definitions: [
    user,
    {
      type: 'group',
      relations: { member: { this: {} } },
      metadata: { relations: { member: held(user, members) } },
    },
    tree('folder'),
    tree('document'),
  ],
}

export class OpenFga implements WritablePeer {
  readonly name: string
  readonly cannot =
    'nothing of its relations; no tenants, and attributes only as what a condition finds in tuple or question'
  readonly isOverHttp = true
  readonly mostAtOnce = TUPLES_A_WRITE
  /** The server does not require a key. */
  readonly key = ''
  readonly #datastore: 'memory' | 'sqlite' | 'postgres'
  /** URI of the database. If it is null and the datastore is on disk, a temporary directory is used. */
  readonly #uri: string | null
  #directory: string | null = null
  #server: PeerServer | null = null
  #store = ''
  #model = ''

  constructor(datastore: 'memory' | 'sqlite')
  /** `uri` is the URI of an empty PostgreSQL database. */
  constructor(datastore: 'postgres', uri: string)
  constructor(datastore: 'memory' | 'sqlite' | 'postgres', uri: string | null = null) {
    this.name = `${titleOf(OPENFGA)} (HTTP, ${datastore})`
    this.#datastore = datastore
    this.#uri = uri
  }

  async load(facts: Facts, signal: AbortSignal): Promise<void> {
    await this.start()
    for (const batch of relationshipsOf(facts, TUPLES_A_WRITE)) {
      const { path, body } = this.writeOf(batch)
      await this.client.post(path, body, signal)
    }
  }

  get client(): JsonClient {
    return this.#server!.client
  }

  /** Starts the server. It contains the model but no facts. */
  async start(): Promise<void> {
    this.#directory = mkdtempSync(join(tmpdir(), 'verdict-openfga-'))
    const store = [`--datastore-engine=${this.#datastore}`]
    if (this.#datastore !== 'memory') {
      store.push(`--datastore-uri=${this.#uri ?? `file:${join(this.#directory, 'openfga.db')}`}`)
      execFileSync(binaryOf(OPENFGA), ['migrate', ...store], { stdio: 'ignore' })
    }
    const port = await freePort()
    const command = [
      binaryOf(OPENFGA),
      'run',
      ...store,
      `--http-addr=127.0.0.1:${port}`,
      `--grpc-addr=127.0.0.1:${await freePort()}`,
      '--metrics-enabled=false',
      '--log-level=error',
    ]
    this.#server = await PeerServer.start(command, port, '/healthz')
    const { id } = (await this.client.post('/stores', { name: 'drive' })) as { id: string }
    this.#store = `/stores/${id}`
    const model = await this.client.post(`${this.#store}/authorization-models`, MODEL)
    this.#model = (model as { authorization_model_id: string }).authorization_model_id
  }

  /** Returns the request that creates these tuples. */
  writeOf(relationships: readonly Relationship[]): PeerRequest {
    const writes = { tuple_keys: relationships.map(tupleOf) }
    return { path: `${this.#store}/write`, body: { writes, authorization_model_id: this.#model } }
  }

  async check(query: Query): Promise<boolean> {
    const answer = await this.#post('check', { tuple_key: keyOf(query) })
    return (answer as { allowed: boolean }).allowed
  }

  async checkBatch(queries: readonly Query[]): Promise<boolean[]> {
    const checks = queries.map((query, index) => ({ tuple_key: keyOf(query), correlation_id: String(index) }))
    const answer = await this.#post('batch-check', { checks })
    const { result } = answer as { result: Record<string, { allowed: boolean }> }
    return queries.map((_, index) => result[index]!.allowed)
  }

  async close(): Promise<void> {
    await this.#server?.stop()
    if (this.#directory !== null) rmSync(this.#directory, { recursive: true })
  }

  #post(what: string, body: object): Promise<unknown> {
    return this.client.post(`${this.#store}/${what}`, {
      ...body,
      authorization_model_id: this.#model,
    })
  }
}

function keyOf({ user: key, action, type, key: thing }: Query): object {
  return { user: `user:${key}`, relation: action, object: `${type}:${thing}` }
}

function tupleOf({ subject, isOfMembers, relation, object }: Relationship): object {
  return { user: isOfMembers ? `${subject}#member` : subject, relation, object }
}
