/**
 * Tracks the nodes of this deployment. On a shared store, each node publishes its health every two seconds.
 * The heartbeats of the other nodes are read on request, at most once per second. On a store that is not
 * shared, this node is the only one.
 */
import { type Static, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { Node, type NodeList } from '#model/wire/node.ts'
import { BEAT_MS, type NodeHeartbeats } from '#store/node-heartbeats.ts'

const NODES_MAX = 1_000
/** A node with more environments does not publish its revisions, so that heartbeats stay short. */
const REVISIONS_MAX = 16
/** How long the result of a read is reused. */
const READ_AGAIN_MS = 1_000
/** How long a caller waits for a store that does not respond. */
const READ_MS_MAX = 1_000
/**
 * Number of heartbeats after which this node reads the others even without a caller. These reads remove the
 * ids of nodes that are gone.
 */
const BEATS_PER_READING = 150

const UNREAD = 'the store cannot list the other nodes at the moment'
const TOO_MANY = `there are more than ${NODES_MAX} nodes`

/** Content of a heartbeat. Other releases may send more fields or fewer. */
const Heartbeat = Type.Object({
  ...Type.Omit(Node, ['is_this', 'revision']).properties,
  /** Revisions by environment id. */
  revisions: Type.Record(Type.String(), Type.String()),
})
type Heartbeat = Static<typeof Heartbeat>

export interface ClusterMembershipParts {
  /** Null if there are no other nodes. */
  readonly heartbeats: NodeHeartbeats | null
  /** Current state of this node. */
  self(): Omit<Heartbeat, 'seen_at' | 'revisions'>
  /** Revision of this node in an environment; null if it has no environment with that id. */
  revisionIn(environmentId: string): string | null
  /** Revision of this node in each environment, by id; empty if there are more than `most` environments. */
  revisions(most: number): Readonly<Record<string, string>>
  readonly now: () => number
  readonly elapsedMs: () => number
}

interface Others {
  readonly heartbeats: readonly Heartbeat[]
  /** Reason why the list might be incomplete; null if it is complete. */
  readonly missing: string | null
}

const NONE: Others = { heartbeats: [], missing: null }

export class ClusterMembership {
  readonly #parts: ClusterMembershipParts
  #timer: NodeJS.Timeout | null = null
  #beats = 0
  /** The latest read, which might still be in progress. */
  #reading: { readonly beganAt: number; readonly others: Promise<Others> } | null = null
  #validator: Validator | null = null

  constructor(parts: ClusterMembershipParts) {
    this.#parts = parts
  }

  /** Publishes heartbeats until `close` is called. Does not keep the process alive. */
  begin(): void {
    this.beat()
    this.#timer = setInterval(() => this.beat(), BEAT_MS).unref()
  }

  /** Publishes a heartbeat now. If the store rejects it, the next heartbeat replaces it. */
  beat(): void {
    const { heartbeats, revisions } = this.#parts
    if (!heartbeats) return
    const self = this.#self()
    const text = JSON.stringify({ ...self, revisions: revisions(REVISIONS_MAX) })
    heartbeats.publish(self.id, text).catch(() => {})
    if (this.#beats % BEATS_PER_READING === 0) void this.#others()
    this.#beats += 1
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer)
    // Removes the heartbeat. Otherwise, the other nodes would list this node for some more seconds.
    this.#parts.heartbeats?.leave(this.#parts.self().id).catch(() => {})
  }

  /**
   * Lists the nodes with their revision in the given environment. If `environmentId` is null, the revisions
   * are null.
   */
  async list(environmentId: string | null): Promise<NodeList> {
    const { heartbeats, missing } = await this.#othersInTime()
    const self = this.#self()
    const revision = environmentId === null ? null : this.#parts.revisionIn(environmentId)
    const others = heartbeats
      .filter(({ id }) => id !== self.id)
      .map(each => nodeOf(each, environmentId === null ? null : (each.revisions[environmentId] ?? null)))
    const nodes = [{ ...nodeOf(self, revision), is_this: true }, ...others].toSorted(
      (left, right) => compare(left.started_at, right.started_at) || compare(left.id, right.id),
    )
    return { nodes, is_complete: missing === null, missing }
  }

  #self(): Omit<Heartbeat, 'revisions'> {
    return { ...this.#parts.self(), seen_at: new Date(this.#parts.now()).toISOString() }
  }

  async #othersInTime(): Promise<Others> {
    const patience = Promise.withResolvers<Others>()
    const timer = setTimeout(patience.resolve, READ_MS_MAX, { heartbeats: [], missing: UNREAD })
    try {
      return await Promise.race([this.#others(), patience.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  #others(): Promise<Others> {
    const { heartbeats, elapsedMs } = this.#parts
    if (!heartbeats) return Promise.resolve(NONE)
    if (this.#reading === null || elapsedMs() - this.#reading.beganAt >= READ_AGAIN_MS) {
      const others = this.#read(heartbeats).catch((): Others => ({ heartbeats: [], missing: UNREAD }))
      this.#reading = { beganAt: elapsedMs(), others }
    }
    return this.#reading.others
  }

  async #read(store: NodeHeartbeats): Promise<Others> {
    const { texts, isAll } = await store.read(NODES_MAX)
    return {
      heartbeats: [...texts.values()].flatMap(text => this.#parsed(text)),
      missing: isAll ? null : TOO_MANY,
    }
  }

  /** Parses a heartbeat. Ignores text that does not have the expected form. */
  #parsed(text: string): Heartbeat[] {
    try {
      const heartbeat: unknown = JSON.parse(text)
      this.#validator ??= Compile(Heartbeat)
      return this.#validator.Check(heartbeat) ? [heartbeat as Heartbeat] : []
    } catch {
      return []
    }
  }
}

/** Copies only known fields, because another release may send more. */
function nodeOf(heartbeat: Omit<Heartbeat, 'revisions'>, revision: string | null): Node {
  const { id, name, version, started_at, seen_at, ready, fresh, stale_ms, http_threads } = heartbeat
  const health = { ready, fresh, stale_ms, http_threads }
  return { id, name, version, started_at, seen_at, is_this: false, ...health, revision }
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
