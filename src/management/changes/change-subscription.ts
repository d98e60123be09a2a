/**
 * One reader of the change stream. The reader first receives the position from which the stream continues.
 * Then it reads pieces of the log at its own pace. When it has caught up with the channels, it joins the
 * channel of its filter:
 *
 *     since ──► snapshot ──► pieces of the log … ──► channel
 *       └ other history, or log too short: reset, then the channel immediately
 *
 * Between two pieces, it stores only its place in a part of a commit. Readers share these parts
 * (`catch-ups.ts`).
 */
import type { WaitingClient } from '#model/caller.ts'
import { abandoned } from '#scheduling/admission.ts'
import type { ResetReason } from '#entities/change-event.ts'
import type { LogEntry } from '#store/ledger.ts'
import type { CatchUpReader, CommitPart } from './catch-ups.ts'
import type { ChangeChannel } from './change-channel.ts'
import type { ChangeFilter } from './change-filter.ts'
import {
  type EnvironmentChanges,
  HEARTBEAT_MS,
  isBehind,
  notReached,
  resetReasonOf,
} from './environment-changes.ts'
import {
  END_OF_EVENT,
  endOfCommit,
  HEARTBEAT_TEXT,
  positionText,
  resetText,
  snapshotText,
} from './event-text.ts'
import { positionOf, type StreamPosition } from './stream-position.ts'

/**
 * The next output for a reader: bytes, then the channel that delivers the rest. The channel is null while the
 * reader still catches up.
 */
export interface ChangePiece {
  readonly bytes: Uint8Array
  readonly events: number
  readonly resets: number
  readonly channel: ChangeChannel | null
}

/** Approximate size of a piece. */
const PIECE_BYTES = 65_536
/**
 * Maximum number of commits per piece. Commits without matching events count, so that a reader whose filter
 * matches nothing also receives data.
 */
const PIECE_COMMITS = 1_024

export interface SubscriptionOptions {
  readonly changes: EnvironmentChanges
  readonly filter: ChangeFilter
  /** Commit after which the stream continues; null: after the newest. */
  readonly since: StreamPosition | null
  /** How long to wait for a commit that this node has not received yet. */
  readonly waitMs: number
  /** For how long this node may have missed commits of other nodes. */
  readonly stalenessMs: () => number
  readonly waiting: WaitingClient
}

/** A part of the commit after the position, and the index of the next event in it. */
interface PartReading {
  readonly part: CommitPart
  at: number
}

export class ChangeSubscription implements CatchUpReader {
  readonly #changes: EnvironmentChanges
  readonly #filter: ChangeFilter
  readonly #leaveChanges: () => void
  readonly #onOver: (() => void)[] = []
  /** The last commit that the reader has received completely. */
  #position: StreamPosition
  /** History number of the position (`EnvironmentChanges.history`). */
  #history: number
  #reading: PartReading | null = null
  /** The next part, while it is being made. */
  #making: Promise<CommitPart> | null = null
  /** Step of the commit at which the next part begins. */
  #from = 0
  /** Content of the next piece. */
  #pieces: Uint8Array[] = []
  #length = 0
  #events = 0
  #resets = 0
  #log: AsyncIterator<LogEntry> | null = null
  /** Sequence after which the log iterator continues. */
  #logAt = -1
  /**
   * Whether the last event lacks its final line. Either another event of the commit or the commit's id
   * follows.
   */
  #isOpen = false
  /** Whether the reader has received the id of the position. */
  #isPositionSent = true
  #isOver = false
  #onSlow: () => void = () => {}

  /**
   * Throws `NOT_READY` if this node does not reach the requested commit in time, or if the environment is
   * closing.
   */
  static async open(options: SubscriptionOptions): Promise<ChangeSubscription> {
    const leave = await options.changes.enter()
    try {
      const { history } = options.changes
      const start = await startOf(options)
      return new ChangeSubscription(options, leave, { ...start, history })
    } catch (error) {
      leave()
      throw error
    }
  }

  private constructor(
    { changes, filter }: SubscriptionOptions,
    leave: () => void,
    { position, reason, history }: Start & { readonly history: number },
  ) {
    this.#changes = changes
    this.#filter = filter
    this.#leaveChanges = leave
    this.#position = position
    this.#history = history
    this.#send(snapshotText(position, reason !== null), 1)
    if (reason !== null) this.#sendReset(reason)
  }

  get position(): StreamPosition {
    return this.#position
  }

  /** Registers a callback for when the reader has left. */
  whenOver(listener: () => void): void {
    this.#onOver.push(listener)
  }

  /** Registers a callback that must disconnect the reader: the memory of the part that it holds is needed. */
  whenSlow(listener: () => void): void {
    this.#onSlow = listener
  }

  endSlow(): void {
    this.#onSlow()
  }

  /**
   * Makes the next piece and passes it to `hand` synchronously, because the batches of a channel must follow
   * it. Calls must not overlap. Must not be called after the piece with the channel.
   */
  async next(hand: (piece: ChangePiece) => void): Promise<void> {
    if (this.#length === 0) await this.#readOn()
    // A reader whose filter matches nothing also needs data. The channel sends its position only with later
    // commits.
    if (this.#length === 0) this.#sendPosition()
    const piece = this.#take()
    // A replaced history adds a reset to the output. A reader cannot join a channel within a commit, because
    // the channel has already sent part of that commit.
    const isLevel = this.#isThere() && !this.#changes.isTelling
    const isThere = isLevel && this.#length === 0 && this.#isPositionSent
    if (isThere) this.#endCatchUp()
    hand({ ...piece, channel: isThere ? this.#changes.channel(this.#filter) : null })
  }

  /** Called when this reader's thread has no more listeners of the channel. */
  forget(channel: ChangeChannel): void {
    this.#changes.forget(channel)
  }

  /** Called when the reader has left. Idempotent. */
  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#endCatchUp()
    this.#leaveChanges()
    for (const listener of this.#onOver) listener()
  }

  #take(): Omit<ChangePiece, 'channel'> {
    const piece = { bytes: joined(this.#pieces), events: this.#events, resets: this.#resets }
    this.#pieces = []
    this.#length = 0
    this.#events = 0
    this.#resets = 0
    return piece
  }

  #isThere(): boolean {
    if (this.#isOver) throw abandoned()
    const { position, history } = this.#changes
    if (position.epoch !== this.#position.epoch || history !== this.#history) this.#reset('history_replaced')
    return !isBehind(this.#position, position)
  }

  /** Reads the log until the position of the channels or until the piece is full. */
  async #readOn(): Promise<void> {
    try {
      if (this.#isThere()) await this.#changes.settled(HEARTBEAT_MS)
      for (
        let commits = 0;
        commits < PIECE_COMMITS && this.#length < PIECE_BYTES && !this.#isThere();
        commits++
      ) {
        const reading = await this.#partInTime()
        if (this.#isOver) throw abandoned()
        // If the part is not ready in time, the piece ends here: the connection needs data while parts for
        // other readers are made.
        if (reading === null) return
        this.#sendEvents(reading)
        const { next, position, events, isOlder } = reading.part
        if (reading.at < events.length) return
        this.#reading = null
        this.#from = next ?? 0
        if (next === null) this.#endCommit(position, isOlder)
        else if (this.#length === 0) return
      }
    } catch (error) {
      const reason = resetReasonOf(error)
      if (reason === null) throw error
      this.#reset(reason)
    }
  }

  /** The current part; null if it is not ready in time. */
  async #partInTime(): Promise<PartReading | null> {
    if (this.#reading) return this.#reading
    this.#making ??= this.#nextPart()
    const making = this.#making
    const part = await inTime(making, HEARTBEAT_MS)
    if (part === null || this.#making !== making) return null
    this.#making = null
    this.#reading = { part, at: 0 }
    return this.#reading
  }

  async #nextPart(): Promise<CommitPart> {
    const [after, from, filter] = [this.#position, this.#from, this.#filter]
    try {
      return await this.#changes.catchUps.part({
        after,
        from,
        filter,
        reader: this,
        read: () => this.#nextEntry(),
      })
    } catch (error) {
      this.#making = null
      throw error
    }
  }

  /** The entry after the position. */
  async #nextEntry(): Promise<LogEntry> {
    if (this.#isOver) throw abandoned()
    // The log iterator might be elsewhere: another reader may have read entries on behalf of this reader, and
    // a commit in parts is read several times.
    if (this.#logAt !== this.#position.sequence) this.#endLog()
    this.#log ??= this.#changes.store.ledger.replay(this.#position)[Symbol.asyncIterator]()
    const next = await this.#log.next()
    if (this.#isOver) throw abandoned()
    // The log ended because its store was closed.
    if (next.done) throw new Error('the log of an environment ended while it was read')
    this.#logAt = next.value.revision.sequence
    return next.value
  }

  /** Adds events until the piece is full. */
  #sendEvents(reading: PartReading): void {
    const { events } = reading.part
    while (reading.at < events.length && this.#length < PIECE_BYTES) {
      const { about, bytes, from, to } = events[reading.at++]!
      if (!this.#filter.lets(about)) continue
      this.#closeEvent()
      this.#add(bytes.subarray(from, to))
      this.#events += 1
      this.#isOpen = true
    }
  }

  #endCommit(position: StreamPosition, isOlder: boolean): void {
    this.#position = position
    if (isOlder) return this.#sendReset('older_release')
    this.#isPositionSent = this.#isOpen
    this.#isOpen = false
    if (this.#isPositionSent) this.#add(Buffer.from(endOfCommit(position)))
  }

  #sendPosition(): void {
    // Within a commit, there is no id to send.
    if (this.#isPositionSent || this.#from > 0) this.#send(HEARTBEAT_TEXT)
    else {
      this.#send(positionText(this.#position), 1)
      this.#isPositionSent = true
    }
  }

  #reset(reason: ResetReason): void {
    this.#endCatchUp()
    this.#position = this.#changes.position
    this.#history = this.#changes.history
    this.#sendReset(reason)
  }

  #sendReset(reason: ResetReason): void {
    this.#isPositionSent = true
    this.#resets += 1
    this.#send(resetText(this.#position, reason), 1)
  }

  /** Adds text that needs no final line. */
  #send(text: string, events = 0): void {
    this.#closeEvent()
    this.#events += events
    this.#add(Buffer.from(text))
  }

  #closeEvent(): void {
    if (this.#isOpen) this.#add(Buffer.from(END_OF_EVENT))
    this.#isOpen = false
  }

  #add(bytes: Uint8Array): void {
    this.#pieces.push(bytes)
    this.#length += bytes.length
  }

  #endCatchUp(): void {
    this.#endLog()
    this.#reading = null
    this.#making = null
    this.#from = 0
    this.#changes.catchUps.end(this)
  }

  #endLog(): void {
    void this.#log?.return?.()
    this.#log = null
  }
}

/** Result of the promise; null if it takes longer than `ms`. */
async function inTime<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(resolve, ms, null)
  try {
    return await Promise.race([answer, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Copies the bytes, because the parts can be dropped before they are sent. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

interface Start {
  readonly position: StreamPosition
  /**
   * Reason why the stream does not continue where the reader stopped; null if it does, or if it begins at the
   * newest commit.
   */
  readonly reason: ResetReason | null
}

async function startOf({
  changes,
  since,
  waitMs,
  stalenessMs,
  waiting,
}: SubscriptionOptions): Promise<Start> {
  if (since === null) return { position: changes.position, reason: null }
  const anew = (reason: ResetReason): Start => ({ position: changes.position, reason })
  if (since.epoch !== changes.position.epoch) return anew('history_replaced')
  if (isBehind(changes.position, since)) {
    const from = performance.now()
    const head = await changes.store.ledger.head()
    // If this node is the only writer, a commit after its head never existed or was lost.
    const wantedMs = since.sequence > head.sequence && stalenessMs() === 0 ? 0 : waitMs
    const isThere = await changes.reaches(since.sequence, wantedMs)
    if (waiting.isGone) throw abandoned()
    if (!isThere) {
      // This node has received all commits since the request began. Therefore, the requested commit does not
      // exist.
      if (stalenessMs() <= performance.now() - from) return anew('history_replaced')
      throw notReached(changes.position, since, wantedMs)
    }
    if (since.epoch !== changes.position.epoch) return anew('history_replaced')
  }
  return since.mark === null ? { position: since, reason: null } : startWithMark(changes, since)
}

/** Checks that the commit at that sequence is the one that the reader received. */
async function startWithMark(changes: EnvironmentChanges, since: StreamPosition): Promise<Start> {
  const { epoch, sequence } = since
  const log = changes.store.ledger.replay({ epoch, sequence: sequence - 1 })[Symbol.asyncIterator]()
  try {
    const next = await log.next()
    if (!next.done && positionOf(next.value).mark === since.mark) return { position: since, reason: null }
    return { position: changes.position, reason: 'history_replaced' }
  } catch (error) {
    const reason = resetReasonOf(error)
    if (reason === null) throw error
    return { position: changes.position, reason }
  } finally {
    await log.return?.()
  }
}
