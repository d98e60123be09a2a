/**
 * The SpiceDB server, over HTTP. Its datastore is in memory or in PostgreSQL. One fact is one relationship.
 */
import { execFileSync } from 'node:child_process'
import type { Query } from '../../src/model/decision.ts'
import { binaryOf, SPICEDB, titleOf } from './go-servers.ts'
import {
  type Facts,
  type PeerRequest,
  type Relationship,
  relationshipsOf,
  type WritablePeer,
} from './peer.ts'
import { freePort, type JsonClient, PeerServer } from './peer-server.ts'

const KEY = 'bench-key'
/** Default limit of relationships in one write request. */
const RELATIONSHIPS_A_WRITE = 1_000

/**
 * Definition of a document or folder. As in the model for OpenFGA, only actions are inherited from the parent
 * folder.
 */
const tree = (type: string) => `
definition ${type} {
  relation parent: folder
  relation viewer: user | group#member
  relation editor: user | group#member
  relation owner: user
  permission read = viewer + editor + owner + parent->read
  permission write = editor + owner + parent->write
  permission delete = owner + parent->delete
}`
const SCHEMA = `
definition user {}
definition group {
  relation member: user | group#member
}
${tree('folder')}
${tree('document')}`

export class SpiceDb implements WritablePeer {
  readonly name: string
  readonly cannot =
    'nothing of its relations; no tenants, and attributes only as what a caveat finds in relationship or question'
  readonly isOverHttp = true
  readonly mostAtOnce = RELATIONSHIPS_A_WRITE
  readonly key = KEY
  /** URI of an empty PostgreSQL database. Null if the datastore is in memory. */
  readonly #uri: string | null
  #server: PeerServer | null = null
  /**
   * Token of the last write, which decisions must reflect. If it is null, decisions are requested with full
   * consistency.
   */
  #token: string | null = null

  constructor(uri: string | null = null) {
    this.name = `${titleOf(SPICEDB)} (HTTP, ${uri === null ? 'memory' : 'postgres'})`
    this.#uri = uri
  }

  async load(facts: Facts, signal: AbortSignal): Promise<void> {
    await this.start()
    for (const batch of relationshipsOf(facts, RELATIONSHIPS_A_WRITE)) {
      const { path, body } = this.writeOf(batch)
      const answer = await this.client.post(path, body, signal)
      this.#token = (answer as { writtenAt: { token: string } }).writtenAt.token
    }
  }

  get client(): JsonClient {
    return this.#server!.client
  }

  /** Starts the server. It contains the schema but no facts. */
  async start(): Promise<void> {
    const port = await freePort()
    const store =
      this.#uri === null
        ? ['--datastore-engine=memory']
        : ['--datastore-engine=postgres', `--datastore-conn-uri=${this.#uri}`]
    if (this.#uri !== null)
      execFileSync(binaryOf(SPICEDB), ['datastore', 'migrate', 'head', ...store], { stdio: 'ignore' })
    const command = [
      binaryOf(SPICEDB),
      'serve',
      ...store,
      `--grpc-preshared-key=${KEY}`,
      `--grpc-addr=127.0.0.1:${await freePort()}`,
      '--http-enabled',
      `--http-addr=127.0.0.1:${port}`,
      '--metrics-enabled=false',
      '--telemetry-endpoint=',
      '--skip-release-check',
      '--log-level=error',
    ]
    this.#server = await PeerServer.start(command, port, '/healthz', {
      headers: { authorization: `Bearer ${KEY}` },
    })
    await this.client.post('/v1/schema/write', { schema: SCHEMA })
  }

  /** Returns the request that creates these relationships. */
  writeOf(relationships: readonly Relationship[]): PeerRequest {
    const updates = relationships.map(relationship => ({
      operation: 'OPERATION_CREATE',
      relationship: writtenOf(relationship),
    }))
    return { path: '/v1/relationships/write', body: { updates } }
  }

  async check(query: Query): Promise<boolean> {
    return isAllowed(await this.#post('check', questionOf(query)))
  }

  async checkBatch(queries: readonly Query[]): Promise<boolean[]> {
    const answer = await this.#post('checkbulk', { items: queries.map(questionOf) })
    return (answer as { pairs: { item: unknown }[] }).pairs.map(({ item }) => isAllowed(item))
  }

  async close(): Promise<void> {
    await this.#server?.stop()
  }

  #post(what: string, body: object): Promise<unknown> {
    const consistency =
      this.#token === null ? { fullyConsistent: true } : { atLeastAsFresh: { token: this.#token } }
    return this.client.post(`/v1/permissions/${what}`, { ...body, consistency })
  }
}

function questionOf({ user, action, type, key }: Query): object {
  return {
    resource: { objectType: type, objectId: key },
    permission: action,
    subject: { object: { objectType: 'user', objectId: user } },
  }
}

function isAllowed(answer: unknown): boolean {
  return (answer as { permissionship: string }).permissionship === 'PERMISSIONSHIP_HAS_PERMISSION'
}

function writtenOf({ subject, isOfMembers, relation, object }: Relationship): object {
  return {
    resource: referenceTo(object),
    relation,
    subject: { object: referenceTo(subject), ...(isOfMembers && { optionalRelation: 'member' }) },
  }
}

function referenceTo(name: string): object {
  const [objectType, objectId] = name.split(':')
  return { objectType, objectId }
}
