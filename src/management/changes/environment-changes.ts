/**
 * The stream of changes of one environment, for all who read it on this node:
 *
 *     log ──► entry ──► events ──► channels, one for each filter ──► HTTP threads ──► connections
 *              └ once a commit ┘    └ one piece of bytes a turn ┘
 *
 * It follows the log only while somebody reads. A reader that has to catch up reads the log by itself (`change-subscription.ts`) up to
 * where this one stands, and then joins a channel. A history that cannot be followed on is a `reset` for all, and never a gap.
 */
import type { Turns } from '#management/commands/fair-turns.ts'
import { AuthzError } from '#model/errors.ts'
import { formatRevision } from '#model/revision.ts'
import { SLICE_MS } from '#model/resumable.ts'
import type { ResetReason } from '#model/wire/change-event.ts'
import type { Entry } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { ChangeChannel } from './change-channel.ts'
import { OlderReleaseError, type ToldChange } from './change-events.ts'
import type { ChangeFilter } from './change-filter.ts'
import type { ChangeTeller, Telling } from './change-teller.ts'
import { textOfChange } from './event-text.ts'
import { markOf, type StreamPosition } from './stream-position.ts'

/** How often readers hear something at least. The HTTP library ends a connection on which nothing goes for 10 s. */
export const HEARTBEAT_MS = 4_000
/** Changes told between two looks at the clock. */
const TOLD_AT_ONCE = 32

const CLOSED = 'the environment is closed, removed or replaced here, or the service stops: connect again'

export class EnvironmentChanges {
  readonly store: EnvironmentStore
  readonly #teller: ChangeTeller
  readonly #turns: Turns
  readonly #channels = new Map<string, ChangeChannel>()
  #readers = 0
  /** Null while nobody reads. */
  #position: StreamPosition | null = null
  #following: AsyncIterator<Entry> | null = null
  /** Null while nothing is followed. */
  #started: Promise<void> | null = null
  #beating: NodeJS.Timeout | undefined
  /** Stops when nobody has come back. */
  #lingering: NodeJS.Timeout | undefined
  /** Grows with each history that is begun to be followed. */
  #run = 0
  #isClosed = false
  readonly #moved = new Set<() => void>()

  constructor(store: EnvironmentStore, teller: ChangeTeller, turns: Turns) {
    this.store = store
    this.#teller = teller
    this.#turns = turns
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Whether the log is followed: for readers, or for those that may come again. */
  get isFollowed(): boolean {
    return this.#started !== null
  }

  /** Keeps nothing for those that may come again. */
  letGo(): void {
    if (this.#readers === 0) this.#stop()
  }

  /** Where the channels stand: everything up to there has been told to them. */
  get position(): StreamPosition {
    if (this.#position === null) throw ended()
    return this.#position
  }

  /** One reader more; resolves when there is a position. Returns how to leave, to be called once. */
  async enter(): Promise<() => void> {
    if (this.#isClosed) throw ended()
    clearTimeout(this.#lingering)
    this.#readers += 1
    this.#started ??= this.#start()
    try {
      await this.#started
    } catch (error) {
      this.#leave()
      throw error
    }
    return () => this.#leave()
  }

  #leave(): void {
    this.#readers -= 1
    if (this.#readers > 0) return
    clearTimeout(this.#lingering)
    if (this.#teller.lingerMs === 0 || this.#position === null) return this.#stop()
    this.#lingering = setTimeout(() => this.#stop(), this.#teller.lingerMs)
    this.#lingering.unref()
  }

  /** The channel of that filter. It goes when nobody hears it any more (`forget`). */
  channel(filter: ChangeFilter): ChangeChannel {
    const known = this.#channels.get(filter.name) ?? new ChangeChannel(filter)
    this.#channels.set(filter.name, known)
    return known
  }

  forget(channel: ChangeChannel): void {
    if (!channel.isHeard && this.#channels.get(channel.filter.name) === channel)
      this.#channels.delete(channel.filter.name)
  }

  /** Resolves to true when the channels have come to that sequence, to false after so long. */
  async reaches(sequence: number, withinMs: number): Promise<boolean> {
    const isThere = (): boolean => this.#position === null || this.#position.sequence >= sequence
    if (isThere()) return true
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, withinMs)
    const look = (): void => {
      if (isThere()) resolve()
    }
    this.#moved.add(look)
    await promise
    this.#moved.delete(look)
    clearTimeout(timer)
    return isThere()
  }

  /** The events of an earlier entry, within the environment's share of the thread. Throws `OlderReleaseError`. */
  replayed(entry: Entry, filter: ChangeFilter): Promise<ToldChange[]> {
    return this.#all(this.#teller.replayed(entry, filter))
  }

  #told(telling: Telling): ToldChange[] {
    return [...telling].filter(change => change !== null)
  }

  async #all(telling: Telling): Promise<ToldChange[]> {
    const events = telling[Symbol.iterator]()
    const told: ToldChange[] = []
    const step = (): boolean => {
      const until = performance.now() + SLICE_MS
      do {
        for (let count = 0; count < TOLD_AT_ONCE; count++) {
          const next = events.next()
          if (next.done) return true
          if (next.value) told.push(next.value)
        }
      } while (performance.now() < until)
      return false
    }
    // Most commits have few changes: they are not worth a turn of the loop each.
    if (step()) return told
    while (!(await this.#turns.take(step)));
    return told
  }

  close(): void {
    this.#isClosed = true
    this.#endAll()
  }

  async #start(): Promise<void> {
    const run = ++this.#run
    await this.#begin()
    if (run !== this.#run) return
    this.#beating = setInterval(() => {
      for (const channel of this.#channels.values()) channel.beat(this.position)
    }, HEARTBEAT_MS)
    this.#beating.unref()
    void this.#follow(run)
  }

  #stop(): void {
    this.#run += 1
    this.#started = null
    clearInterval(this.#beating)
    clearTimeout(this.#lingering)
    this.#teller.end()
    void this.#following?.return?.()
    this.#following = null
    this.#position = null
    this.#channels.clear()
    for (const look of this.#moved) look()
  }

  #endAll(): void {
    for (const channel of this.#channels.values()) channel.end(CLOSED)
    this.#stop()
  }

  async #begin(): Promise<void> {
    const run = this.#run
    const position = await this.#teller.begin(() => this.#turns.take(() => {}))
    if (run !== this.#run) return
    this.#position = position
    this.#following = this.store.ledger.replay(position)[Symbol.asyncIterator]()
  }

  async #follow(run: number): Promise<void> {
    for (;;) {
      try {
        await this.#tellAll(run)
        if (run === this.#run) this.#endAll()
        return
      } catch (error) {
        if (run !== this.#run) return
        const reason = resetReasonOf(error)
        if (reason === null) {
          this.#endAll()
          return
        }
        const isBegun = await this.#begin().then(
          () => true,
          () => false,
        )
        if (run !== this.#run) return
        if (!isBegun) {
          this.#endAll()
          return
        }
        for (const channel of this.#channels.values()) channel.reset(this.position, reason)
      }
    }
  }

  async #tellAll(run: number): Promise<void> {
    const following = this.#following!
    let until = performance.now() + SLICE_MS
    for (;;) {
      const next = await following.next()
      if (next.done || run !== this.#run) return
      await this.#tell(next.value, run)
      if (performance.now() < until) continue
      // Others first: entries that are there already come without a turn of the loop.
      await this.#turns.take(() => {})
      until = performance.now() + SLICE_MS
    }
  }

  async #tell(entry: Entry, run: number): Promise<void> {
    const position = positionOf(entry)
    let changes: ToldChange[] | null = null
    // While all readers catch up nothing is written out.
    const filters = [...this.#channels.values()].map(({ filter }) => filter)
    if (filters.length > 0 || this.#teller.seesAll) {
      try {
        changes = await this.#all(this.#teller.live(entry, filters))
      } catch (error) {
        if (!(error instanceof OlderReleaseError)) throw error
      }
      if (run !== this.#run) return
    }
    const texts = new Map<ToldChange, string>()
    const textOf = (change: ToldChange): string => {
      const known = texts.get(change) ?? textOfChange(change)
      texts.set(change, known)
      return known
    }
    for (const channel of this.#channels.values()) {
      // Who has come meanwhile was not asked for when the entry was looked into.
      const isNew = this.#teller.seesAll && !filters.includes(channel.filter)
      if (isNew) channel.tell(this.#told(this.#teller.replayed(entry, channel.filter)), textOf, position)
      else if (changes === null) channel.reset(position, 'older_release')
      else channel.tell(changes, textOf, position)
    }
    this.#position = position
    for (const look of this.#moved) look()
  }
}

export function positionOf({ revision, id }: Entry): StreamPosition {
  return { ...revision, mark: markOf(id) }
}

/** Why a stream has to begin anew; null: it has to end. */
export function resetReasonOf(error: unknown): ResetReason | null {
  if (error instanceof OlderReleaseError) return 'older_release'
  if (!(error instanceof AuthzError)) return null
  if (error.code === 'REVISION_TOO_OLD') return 'too_old'
  return error.code === 'STORE_RESET' ? 'history_replaced' : null
}

function ended(): AuthzError {
  return new AuthzError('NOT_READY', 'this environment is being closed or replaced; try again shortly')
}

export function isBehind(one: StreamPosition, other: StreamPosition): boolean {
  return one.epoch === other.epoch && one.sequence < other.sequence
}

export function notReached(position: StreamPosition, wanted: StreamPosition, waitedMs: number): AuthzError {
  const message = `this node is at ${formatRevision(position)} and did not come to ${formatRevision(wanted)} within ${waitedMs} ms; try again shortly`
  return new AuthzError('NOT_READY', message)
}
