/**
 * Tracks the nodes of this deployment. On a shared store, each node publishes its health every two seconds.
 * The heartbeats of the other nodes are read on request, at most once per second. On a store that is not
 * shared, this node is the only one.
 */
import { type Static, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { Node, type NodeList } from '#model/wire/node.ts'
import type { NodeBoard } from '#store/node-board.ts'

const BEAT_MS = 2_000
const NODES_MAX = 1_000
/** A node with more environments does not publish its revisions, so that heartbeats stay short. */
const REVISIONS_MAX = 16
/** How long the result of a read is reused. */
const READ_AGAIN_MS = 1_000
/** How long a caller waits for a store that does not respond. */
const READ_MS_MAX = 1_000
/** Heartbeats between two reads without a caller. These reads remove the ids of nodes that are gone. */
const BEATS_PER_READING = 150

const UNREAD = 'the store does not say just now which other nodes there are'
const TOO_MANY = `there are more than ${NODES_MAX} nodes`

/** Content of a heartbeat. Other releases may send more fields or fewer. */
const Said = Type.Object({
  ...Type.Omit(Node, ['is_this', 'revision']).properties,
  /** Revisions by environment id. */
  revisions: Type.Record(Type.String(), Type.String()),
})
type Said = Static<typeof Said>

export interface RosterParts {
  /** Null if there are no other nodes. */
  readonly board: NodeBoard | null
  /** Current state of this node. */
  self(): Omit<Said, 'seen_at' | 'revisions'>
  /** Revision of this node in an environment; null if it has no environment with that id. */
  revisionIn(environmentId: string): string | null
  /** Revision of this node in each environment, by id; empty if there are more than `most` environments. */
  revisions(most: number): Readonly<Record<string, string>>
  readonly now: () => number
  readonly elapsedMs: () => number
}

interface Others {
  readonly said: readonly Said[]
  /** Reason why the list might be incomplete; null if it is complete. */
  readonly missing: string | null
}

const NOBODY: Others = { said: [], missing: null }

export class NodeRoster {
  readonly #parts: RosterParts
  #timer: NodeJS.Timeout | null = null
  #beats = 0
  /** The latest read, which might still be in progress. */
  #reading: { readonly beganAt: number; readonly others: Promise<Others> } | null = null
  #said: Validator | null = null

  constructor(parts: RosterParts) {
    this.#parts = parts
  }

  /** Publishes heartbeats until `close` is called. Does not keep the process alive. */
  begin(): void {
    this.beat()
    this.#timer = setInterval(() => this.beat(), BEAT_MS).unref()
  }

  /** Publishes a heartbeat now. If the store rejects it, the next heartbeat replaces it. */
  beat(): void {
    const { board, revisions } = this.#parts
    if (!board) return
    const self = this.#self()
    const text = JSON.stringify({ ...self, revisions: revisions(REVISIONS_MAX) })
    board.say(self.id, text).catch(() => {})
    if (this.#beats % BEATS_PER_READING === 0) void this.#others()
    this.#beats += 1
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer)
    // Without this, the other nodes would list this node for some more seconds.
    this.#parts.board?.leave(this.#parts.self().id).catch(() => {})
  }

  /**
   * Lists the nodes with their revision in the given environment. If `environmentId` is null, the revisions
   * are null.
   */
  async list(environmentId: string | null): Promise<NodeList> {
    const { said, missing } = await this.#othersInTime()
    const self = this.#self()
    const revision = environmentId === null ? null : this.#parts.revisionIn(environmentId)
    const others = said
      .filter(({ id }) => id !== self.id)
      .map(each => toldNode(each, environmentId === null ? null : (each.revisions[environmentId] ?? null)))
    const nodes = [{ ...toldNode(self, revision), is_this: true }, ...others].toSorted(
      (left, right) => compare(left.started_at, right.started_at) || compare(left.id, right.id),
    )
    return { nodes, is_complete: missing === null, missing }
  }

  #self(): Omit<Said, 'revisions'> {
    return { ...this.#parts.self(), seen_at: new Date(this.#parts.now()).toISOString() }
  }

  async #othersInTime(): Promise<Others> {
    const patience = Promise.withResolvers<Others>()
    const timer = setTimeout(patience.resolve, READ_MS_MAX, { said: [], missing: UNREAD })
    try {
      return await Promise.race([this.#others(), patience.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  #others(): Promise<Others> {
    const { board, elapsedMs } = this.#parts
    if (!board) return Promise.resolve(NOBODY)
    if (this.#reading === null || elapsedMs() - this.#reading.beganAt >= READ_AGAIN_MS) {
      const others = this.#read(board).catch((): Others => ({ said: [], missing: UNREAD }))
      this.#reading = { beganAt: elapsedMs(), others }
    }
    return this.#reading.others
  }

  async #read(board: NodeBoard): Promise<Others> {
    const { said, isAll } = await board.read(NODES_MAX)
    return {
      said: [...said.values()].flatMap(text => this.#understood(text)),
      missing: isAll ? null : TOO_MANY,
    }
  }

  /** Parses a heartbeat. Ignores text that does not have the expected form. */
  #understood(text: string): Said[] {
    try {
      const said: unknown = JSON.parse(text)
      this.#said ??= Compile(Said)
      return this.#said.Check(said) ? [said as Said] : []
    } catch {
      return []
    }
  }
}

/** Copies only known fields, because another release may send more. */
function toldNode(said: Omit<Said, 'revisions'>, revision: string | null): Node {
  const { id, name, version, started_at, seen_at, ready, fresh, stale_ms, http_threads } = said
  const stands = { ready, fresh, stale_ms, http_threads }
  return { id, name, version, started_at, seen_at, is_this: false, ...stands, revision }
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
