/** The SpiceDB server, over HTTP, with its datastore in memory: one relationship a fact. */
import type { Query } from '../../src/model/decision.ts'
import { binaryOf, SPICEDB, titleOf } from './go-servers.ts'
import { type Facts, type Peer, type Relationship, relationshipsOf } from './peer.ts'
import { freePort, PeerServer } from './peer-server.ts'

const KEY = 'bench-key'
/** What it takes at once unless told otherwise. */
const RELATIONSHIPS_A_WRITE = 1_000

/** Only actions go up the tree, as in the model for OpenFGA. */
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

export class SpiceDb implements Peer {
  readonly name = `${titleOf(SPICEDB)} (HTTP, memory)`
  readonly cannot =
    'nothing of its relations; no tenants, and attributes only as what a caveat finds in relationship or question'
  readonly isOverHttp = true
  #server: PeerServer | null = null
  /** Of the last write: what is answered must know it. */
  #token = ''

  async load(facts: Facts, signal: AbortSignal): Promise<void> {
    const port = await freePort()
    const command = [
      binaryOf(SPICEDB),
      'serve',
      '--datastore-engine=memory',
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
    await this.#server.client.post('/v1/schema/write', { schema: SCHEMA })
    for (const batch of relationshipsOf(facts, RELATIONSHIPS_A_WRITE)) {
      const updates = batch.map(relationship => ({
        operation: 'OPERATION_CREATE',
        relationship: writtenOf(relationship),
      }))
      const answer = await this.#server.client.post('/v1/relationships/write', { updates }, signal)
      this.#token = (answer as { writtenAt: { token: string } }).writtenAt.token
    }
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
    const consistency = { atLeastAsFresh: { token: this.#token } }
    return this.#server!.client.post(`/v1/permissions/${what}`, { ...body, consistency })
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
