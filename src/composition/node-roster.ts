/**
 * The nodes of this deployment. On a shared store each says every two seconds that it lives, and how it stands; what all say is read when
 * somebody asks, and no more than once a second. Where nobody else may have the store there is this node alone.
 */
import { type Static, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { Node, type NodeList } from '#model/wire/node.ts'
import type { NodeBoard } from '#store/node-board.ts'

const BEAT_MS = 2_000
const NODES_MAX = 1_000
/** Of a node with more environments the others do not hear how far it is: what it says stays short. */
const REVISIONS_MAX = 16
/** What was read is told again for so long. */
const READ_AGAIN_MS = 1_000
/** Whoever asks waits no longer for a store that does not answer. */
const READ_MS_MAX = 1_000
/** How often the ids of nodes that are gone are looked for where nobody asks. */
const BEATS_PER_READING = 150

const UNREAD = 'the store does not say just now which other nodes there are'
const TOO_MANY = `there are more than ${NODES_MAX} nodes`

/** What nodes say to each other. Another release may say more, or less. */
const Said = Type.Object({
  ...Type.Omit(Node, ['is_this', 'revision']).properties,
  /** By the ids of environments. */
  revisions: Type.Record(Type.String(), Type.String()),
})
type Said = Static<typeof Said>

export interface RosterParts {
  /** Null: there are no others. */
  readonly board: NodeBoard | null
  /** This node, as it stands. */
  self(): Omit<Said, 'seen_at' | 'revisions'>
  /** How far it is in an environment; null: in none of that id. */
  revisionIn(environmentId: string): string | null
  /** How far it is in each, by their ids; none if there are more than `most`. */
  revisions(most: number): Readonly<Record<string, string>>
  readonly now: () => number
  readonly elapsedMs: () => number
}

interface Others {
  readonly said: readonly Said[]
  /** Why there may be more; null: there are no more. */
  readonly missing: string | null
}

const NOBODY: Others = { said: [], missing: null }

export class NodeRoster {
  readonly #parts: RosterParts
  #timer: NodeJS.Timeout | null = null
  #beats = 0
  /** The last reading, which may be under way. */
  #reading: { readonly beganAt: number; readonly others: Promise<Others> } | null = null
  #said: Validator | null = null

  constructor(parts: RosterParts) {
    this.#parts = parts
  }

  /** Says that this node lives until it is closed. Does not keep the process alive. */
  begin(): void {
    this.beat()
    this.#timer = setInterval(() => this.beat(), BEAT_MS).unref()
  }

  /** Says it now. What the store does not take is said again with the next beat. */
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
    // Else the others would take it for one that lives for some seconds more.
    this.#parts.board?.leave(this.#parts.self().id).catch(() => {})
  }

  /** The nodes, each with how far it is in that environment; null: in none. */
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

  /** What cannot be understood was written by nobody of ours. */
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

/** Another release may say more: what is told is what there is to tell. */
function toldNode(said: Omit<Said, 'revisions'>, revision: string | null): Node {
  const { id, name, version, started_at, seen_at, ready, fresh, stale_ms, http_threads } = said
  const stands = { ready, fresh, stale_ms, http_threads }
  return { id, name, version, started_at, seen_at, is_this: false, ...stands, revision }
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
