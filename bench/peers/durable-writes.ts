/**
 * Sends the same writes to OpenFGA and SpiceDB with PostgreSQL. One assignment of this service is one tuple
 * in these products. The largest batch equals their default limit. These products do not store instances,
 * whereas this service also creates an instance with each fact.
 */
import type { Query } from '../../src/model/decision.ts'
import { assignedBy, FOLDERS, placedBy, type Target, type Used, userOf } from '../lib/writer.ts'
import { encode } from '../lib/load-generator.ts'
import { install, OPENFGA, SPICEDB } from './go-servers.ts'
import { OpenFga } from './openfga.ts'
import { BATCH, type Relationship, type WritablePeer } from './peer.ts'
import { PostgresServer } from './postgres.ts'
import { SpiceDb } from './spicedb.ts'

/** Maximum number of requests with checks that are sent at the same time. */
const REQUESTS_AT_ONCE = 4

export interface DurablePeers {
  readonly targets: readonly Target[]
  /** Stops the peers and their servers. */
  stop(): Promise<void>
}

/** Starts the peers that are available. For each unavailable peer, prints the reason. */
export async function startDurablePeers(): Promise<DurablePeers> {
  const isThere = { openFga: install(OPENFGA), spiceDb: install(SPICEDB) }
  const postgres = isThere.openFga || isThere.spiceDb ? await PostgresServer.start() : null
  if (!postgres) return { targets: [], stop: () => Promise.resolve() }
  const peers: WritablePeer[] = []
  if (isThere.openFga) peers.push(new OpenFga('postgres', postgres.database('openfga')))
  if (isThere.spiceDb) peers.push(new SpiceDb(postgres.database('spicedb')))
  try {
    const targets: Target[] = []
    for (const peer of peers) targets.push(await PeerTarget.start(peer, postgres.title))
    return { targets, stop: () => postgres.stop() }
  } catch (error) {
    for (const peer of peers) await peer.close()
    await postgres.stop()
    throw error
  }
}

class PeerTarget implements Target {
  readonly name: string
  readonly bulkSize: number
  readonly #peer: WritablePeer

  static async start(peer: WritablePeer, store: string): Promise<PeerTarget> {
    await peer.start()
    const target = new PeerTarget(peer, store)
    await target.#arrange()
    return target
  }

  private constructor(peer: WritablePeer, store: string) {
    this.name = peer.name.replace('postgres', store)
    this.bulkSize = peer.mostAtOnce
    this.#peer = peer
  }

  get address(): string {
    return this.#peer.client.address
  }

  single(nth: number): Buffer {
    const { user, document } = assignedBy(nth)
    return this.#encode([viewer(user, `document:${document}`)])
  }

  bulk(nth: number): Buffer {
    return this.#encode(
      placedBy(nth, this.bulkSize).map(({ folder, document }) => ({
        subject: `folder:${folder}`,
        isOfMembers: false,
        relation: 'parent',
        object: `document:${document}`,
      })),
    )
  }

  /** Returns null, because the server and PostgreSQL consist of several processes. */
  used(): Used | null {
    return null
  }

  async verify(singles: number, bulks: number): Promise<void> {
    const queries: Query[] = []
    const ask = (document: string, ...users: readonly [reads: string, doesNot: string]) => {
      for (const user of users)
        queries.push({ user, action: 'read', type: 'document', key: document, tenant: null })
    }
    for (let nth = 0; nth < singles; nth += 1) {
      const { user, document } = assignedBy(nth)
      ask(document, user, userOf(nth + 1))
    }
    for (let nth = 0; nth < bulks; nth += 1) {
      for (const [index, { document }] of placedBy(nth, this.bulkSize).entries())
        ask(document, ownerOf(index), ownerOf(index + 1))
    }
    const run = async (): Promise<void> => {
      for (let batch = queries.splice(0, BATCH); batch.length > 0; batch = queries.splice(0, BATCH)) {
        const allowed = await this.#peer.checkBatch(batch)
        allowed.forEach((allow, index) => {
          if (allow !== (index % 2 === 0))
            throw new Error(`${this.name}: ${batch[index]!.key} was written and does not decide`)
        })
      }
    }
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, run))
  }

  stop(): Promise<void> {
    return this.#peer.close()
  }

  /** Creates the folders. Each folder has one user who can read its documents. */
  async #arrange(): Promise<void> {
    const owners = Array.from({ length: FOLDERS }, (_, index) =>
      viewer(ownerOf(index), `folder:folder-${index}`),
    )
    while (owners.length > 0) {
      const { path, body } = this.#peer.writeOf(owners.splice(0, this.bulkSize))
      await this.#peer.client.post(path, body)
    }
  }

  #encode(relationships: readonly Relationship[]): Buffer {
    const { path, body } = this.#peer.writeOf(relationships)
    return encode({ path, body: JSON.stringify(body) }, this.#peer.key)
  }
}

function viewer(user: string, object: string): Relationship {
  return { subject: `user:${user}`, isOfMembers: false, relation: 'viewer', object }
}

function ownerOf(index: number): string {
  return `owner-${index % FOLDERS}`
}
