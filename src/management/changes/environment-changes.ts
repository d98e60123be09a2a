/**
 * The change stream of one environment, for all of its readers on this node:
 *
 *     log ──► entry ──► events ──► text block ──► channels, one per filter ──► HTTP threads ──► connections
 *              └ once per commit, in slices ┘      └ ranges of the block ┘
 *
 * It follows the log only while it has readers. A reader that has to catch up reads the log itself
 * (`change-subscription.ts`) until the position of this stream, and then joins a channel. It can join only
 * between two commits, because a channel sends a commit in several parts. If the history cannot be continued,
 * all readers receive a `reset`; events are never skipped silently.
 */
import type { TimeShare } from '#scheduling/thread-scheduler.ts'
import { AuthzError } from '#model/errors.ts'
import { formatRevision } from '#model/revision.ts'
import type { ResetReason } from '#entities/change-event.ts'
import type { LogEntry } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { type CatchUps, EnvironmentCatchUps } from './catch-ups.ts'
import type { ChangeChannel } from './change-channel.ts'
import { ChangeChannels } from './change-channels.ts'
import { OlderReleaseError } from './change-events.ts'
import type { ChangeFilter } from './change-filter.ts'
import type { ChangeEventSource, SourceEvents } from './change-event-source.ts'
import { positionOf, type StreamPosition } from './stream-position.ts'

/** Interval of heartbeats. The HTTP library closes a connection after 10 s without data. */
export const HEARTBEAT_MS = 4_000
/** Events, and evaluations of filters for them, between two checks of the clock. */
const TOLD_AT_ONCE = 512

const CLOSED = 'the environment was closed, removed or replaced, or the service stops: reconnect'

export interface EnvironmentChangesOptions {
  readonly store: EnvironmentStore
  readonly environmentId: string
  readonly source: ChangeEventSource
  /** The environment's share of the thread. */
  readonly timeShare: TimeShare
  /** Shared by all environments. */
  readonly catchUps: CatchUps
}

export class EnvironmentChanges {
  readonly store: EnvironmentStore
  readonly #source: ChangeEventSource
  readonly #timeShare: TimeShare
  readonly #channels: ChangeChannels
  readonly catchUps: EnvironmentCatchUps
  #readers = 0
  /** Null while there are no readers. */
  #position: StreamPosition | null = null
  #following: AsyncIterator<LogEntry> | null = null
  /** Null while the log is not followed. */
  #started: Promise<void> | null = null
  #beating: NodeJS.Timeout | undefined
  /** Stops the source if no reader returns in time. */
  #lingering: NodeJS.Timeout | undefined
  /** Incremented whenever following begins or stops. Outdated asynchronous work compares it. */
  #run = 0
  #isClosed = false
  /** Whether the channels have sent a part of the commit that follows the position. */
  isTelling = false
  /**
   * Incremented when the history is replaced. Readers that read the log themselves must then not continue.
   */
  history = 0
  readonly #moved = new Set<() => void>()

  constructor({ store, environmentId, source, timeShare, catchUps }: EnvironmentChangesOptions) {
    this.store = store
    this.#source = source
    this.#timeShare = timeShare
    this.#channels = new ChangeChannels(environmentId)
    this.catchUps = new EnvironmentCatchUps(catchUps, environmentId, source, timeShare)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Whether the log is followed: for readers, or for readers that may return. */
  get isFollowed(): boolean {
    return this.#started !== null
  }

  /** Stops following if there are no readers. */
  letGo(): void {
    if (this.#readers === 0) this.#stop()
  }

  /** Position of the channels: all commits up to it have been sent to them. */
  get position(): StreamPosition {
    if (this.#position === null) throw ended()
    return this.#position
  }

  /** Adds a reader. Resolves when there is a position. Returns a function to leave; call it once. */
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
    if (this.#source.lingerMs === 0 || this.#position === null) return this.#stop()
    this.#lingering = setTimeout(() => this.#stop(), this.#source.lingerMs)
    this.#lingering.unref()
  }

  /** The channel of that filter. Readers can join it while `isTelling` is false. */
  channel(filter: ChangeFilter): ChangeChannel {
    return this.#channels.of(filter)
  }

  forget(channel: ChangeChannel): void {
    this.#channels.forget(channel)
  }

  /** Resolves to true when the channels reach that sequence, or to false after `withinMs`. */
  reaches(sequence: number, withinMs: number): Promise<boolean> {
    return this.#until(() => this.#position === null || this.#position.sequence >= sequence, withinMs)
  }

  /** Resolves when no commit is being sent, or after `withinMs`. */
  async settled(withinMs: number): Promise<void> {
    await this.#until(() => this.#position === null || !this.isTelling, withinMs)
  }

  async #until(isThere: () => boolean, withinMs: number): Promise<boolean> {
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

  close(): void {
    this.#isClosed = true
    this.#endAll()
  }

  async #start(): Promise<void> {
    const run = ++this.#run
    await this.#begin()
    if (run !== this.#run) return
    this.#beating = setInterval(() => {
      // Within a commit, its events keep the connections open, so no heartbeat is sent.
      if (!this.isTelling) this.#channels.beat(this.position)
    }, HEARTBEAT_MS)
    this.#beating.unref()
    void this.#follow(run)
  }

  #stop(): void {
    this.#run += 1
    this.#started = null
    clearInterval(this.#beating)
    clearTimeout(this.#lingering)
    this.#source.end()
    void this.#following?.return?.()
    this.#following = null
    this.#position = null
    this.isTelling = false
    this.#channels.clear()
    this.catchUps.clear()
    for (const look of this.#moved) look()
  }

  #endAll(): void {
    this.#channels.end(CLOSED)
    this.#stop()
  }

  /** `reason`: why following begins again; null if it begins for the first time. */
  async #begin(reason: ResetReason | null = null): Promise<void> {
    const run = this.#run
    const position = await this.#source.begin(() => this.#timeShare.take(() => {}))
    if (run !== this.#run) return
    this.#position = position
    if (reason === 'history_replaced') this.history += 1
    this.catchUps.clear()
    this.#following = this.store.ledger.replay(position)[Symbol.asyncIterator]()
  }

  async #follow(run: number): Promise<void> {
    for (;;) {
      try {
        await this.#sendAll(run)
        if (run === this.#run) this.#endAll()
        return
      } catch (error) {
        if (run !== this.#run) return
        const reason = resetReasonOf(error)
        if (reason === null) {
          this.#endAll()
          return
        }
        const isBegun = await this.#begin(reason).then(
          () => true,
          () => false,
        )
        if (run !== this.#run) return
        if (!isBegun) {
          this.#endAll()
          return
        }
        this.isTelling = false
        this.#channels.reset(this.position, reason)
      }
    }
  }

  async #sendAll(run: number): Promise<void> {
    const following = this.#following!
    for (;;) {
      const next = await following.next()
      if (next.done || run !== this.#run) return
      await this.#sendEntry(next.value, run)
      // Lets other work run first. Entries that are already available arrive without an event-loop iteration.
      await this.#timeShare.takeSoon(() => {})
    }
  }

  /** Writes a commit for all channels, in slices. */
  async #sendEntry(entry: LogEntry, run: number): Promise<void> {
    const position = positionOf(entry)
    // While all readers catch up, nothing is written.
    if (this.#channels.size > 0 || this.#source.seesAll) {
      this.isTelling = true
      try {
        const filters = this.#channels.filters()
        let events: SourceEvents | null = null
        // Created within a slice, because that decodes the entry.
        const step = (until: number): boolean =>
          run !== this.#run || this.#sendSome((events ??= this.#source.live(entry, filters)), until)
        while (!(await this.#timeShare.takeSoon(step)));
        if (run !== this.#run) return
        this.#channels.endCommit(position)
      } catch (error) {
        if (run !== this.#run || !(error instanceof OlderReleaseError)) throw error
        this.#channels.reset(position, 'older_release')
      }
      this.isTelling = false
    }
    this.#position = position
    for (const look of this.#moved) look()
  }

  /** Sends events until the time slice ends. Returns whether the commit has no more events. */
  #sendSome(events: SourceEvents, until: number): boolean {
    do {
      for (let work = 0; work < TOLD_AT_ONCE; work += 1 + this.#channels.size) {
        const { done, value } = events.next()
        if (done === true) return true
        if (value) this.#channels.add(value)
      }
    } while (performance.now() < until)
    return false
  }
}

/** Reason for which a stream must begin again; null if it must end. */
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
  const message = `this node is at ${formatRevision(position)} and did not reach ${formatRevision(wanted)} within ${waitedMs} ms; try again shortly`
  return new AuthzError('NOT_READY', message)
}
