/**
 * One reader of the stream. It hears first from where the stream goes on; then, piece by piece as it takes them, what the log has since
 * then; and when it stands where the channels stand, it joins the one of its filter:
 *
 *     since ──► snapshot ──► pieces of the log … ──► channel
 *       └ of another history, or behind the log: reset, and the channel at once
 */
import type { Waiting } from '#decisions/decision-pool.ts'
import { abandoned } from '#management/commands/resumable.ts'
import type { ResetReason } from '#model/wire/change-event.ts'
import type { Entry } from '#store/ledger.ts'
import type { ChangeChannel } from './change-channel.ts'
import { OlderReleaseError } from './change-events.ts'
import type { ChangeFilter } from './change-filter.ts'
import {
  type EnvironmentChanges,
  isBehind,
  notReached,
  positionOf,
  resetReasonOf,
} from './environment-changes.ts'
import {
  END_OF_EVENT,
  endOfCommit,
  HEARTBEAT_TEXT,
  positionText,
  resetText,
  snapshotText,
  textOfChange,
} from './event-text.ts'
import type { StreamPosition } from './stream-position.ts'

/** What a reader is given next: bytes, and behind them the channel from which it hears the rest; null: it joins none yet. */
export interface ChangePiece {
  readonly bytes: Uint8Array
  readonly events: number
  readonly resets: number
  readonly channel: ChangeChannel | null
}

/** What is not divided. */
interface Part {
  readonly text: string
  readonly events?: number
  readonly resets?: number
}

/** Text in a piece, about. */
const PIECE_LENGTH = 65_536
/** Commits that a piece goes through at most, told of or not: whoever filters all of them must hear something, too. */
const PIECE_COMMITS = 1_024

const encoder = new TextEncoder()

export interface SubscriptionOptions {
  readonly changes: EnvironmentChanges
  readonly filter: ChangeFilter
  /** Behind which commit the stream goes on; null: behind the newest. */
  readonly since: StreamPosition | null
  /** How long it waits for a commit that this node does not have yet. */
  readonly waitMs: number
  /** For how long this node may have missed commits of others. */
  readonly stalenessMs: () => number
  readonly waiting: Waiting
}

export class ChangeSubscription {
  readonly #changes: EnvironmentChanges
  readonly #filter: ChangeFilter
  readonly #leaveChanges: () => void
  readonly #onOver: (() => void)[] = []
  #position: StreamPosition
  /** What the next pieces are made of. */
  readonly #told: Part[] = []
  #log: AsyncIterator<Entry> | null = null
  /** Whether the reader has an id of the position. */
  #isTold = true
  #isOver = false

  /** Throws `NOT_READY` where this node does not come to that commit in time, or the environment is being closed. */
  static async open(options: SubscriptionOptions): Promise<ChangeSubscription> {
    const leave = await options.changes.enter()
    try {
      return new ChangeSubscription(options, leave, await startOf(options))
    } catch (error) {
      leave()
      throw error
    }
  }

  private constructor({ changes, filter }: SubscriptionOptions, leave: () => void, start: Start) {
    this.#changes = changes
    this.#filter = filter
    this.#leaveChanges = leave
    const { position, reason } = start
    this.#position = position
    this.#add({ text: snapshotText(position, reason !== null), events: 1 })
    if (reason !== null) this.#addReset(reason)
  }

  get position(): StreamPosition {
    return this.#position
  }

  /** Called when the reader has left. */
  whenOver(listener: () => void): void {
    this.#onOver.push(listener)
  }

  /** The next piece. One call at a time; none after the one with the channel. */
  async next(): Promise<ChangePiece> {
    if (this.#told.length === 0 && !this.#isThere()) await this.#readOn()
    // The channel tells how far it is only when it has gone on, and whoever filters everything hears something, too.
    if (this.#told.length === 0) this.#tellPosition()
    const { text, events, resets } = this.#take()
    // Asked first: where the history was replaced meanwhile there is more to tell.
    const isLevel = this.#isThere()
    const isThere = isLevel && this.#told.length === 0 && this.#isTold
    if (isThere) this.#endLog()
    const channel = isThere ? this.#changes.channel(this.#filter) : null
    return { bytes: encoder.encode(text), events, resets, channel }
  }

  #tellPosition(): void {
    if (this.#isTold) this.#add({ text: HEARTBEAT_TEXT })
    else this.#add({ text: positionText(this.#position), events: 1 })
    this.#isTold = true
  }

  /** A piece of what is to be told. A commit may be much longer than one. */
  #take() {
    let [count, length] = [0, 0]
    while (count < this.#told.length && length < PIECE_LENGTH) length += this.#told[count++]!.text.length
    const taken = this.#told.splice(0, count)
    return {
      text: taken.map(({ text }) => text).join(''),
      events: taken.reduce((sum, { events = 0 }) => sum + events, 0),
      resets: taken.reduce((sum, { resets = 0 }) => sum + resets, 0),
    }
  }

  /** Nobody hears the channel any more in the thread of this reader. */
  forget(channel: ChangeChannel): void {
    this.#changes.forget(channel)
  }

  /** The reader has left. Safe to repeat. */
  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#endLog()
    this.#leaveChanges()
    for (const listener of this.#onOver) listener()
  }

  #isThere(): boolean {
    if (this.#isOver) throw abandoned()
    const { position } = this.#changes
    if (position.epoch !== this.#position.epoch) this.#reset('history_replaced')
    return !isBehind(this.#position, position)
  }

  async #readOn(): Promise<void> {
    let length = 0
    try {
      this.#log ??= this.#changes.store.ledger.replay(this.#position)[Symbol.asyncIterator]()
      for (let commits = 0; commits < PIECE_COMMITS && length < PIECE_LENGTH && !this.#isThere(); commits++) {
        const next = await this.#log.next()
        if (this.#isOver) throw abandoned()
        // The log has ended with its store.
        if (next.done) throw new Error('the log of an environment ended while it was read')
        length += await this.#tell(next.value)
      }
    } catch (error) {
      const reason = resetReasonOf(error)
      if (reason === null) throw error
      this.#reset(reason)
    }
  }

  /** Returns the length of what is told. */
  async #tell(entry: Entry): Promise<number> {
    const position = positionOf(entry)
    let changes
    try {
      changes = await this.#changes.replayed(entry, this.#filter)
    } catch (error) {
      if (!(error instanceof OlderReleaseError)) throw error
      this.#position = position
      this.#addReset('older_release')
      return 0
    }
    this.#position = position
    const told = changes.filter(change => this.#filter.lets(change))
    this.#isTold = told.length > 0
    let length = 0
    for (const [place, change] of told.entries()) {
      const end = place === told.length - 1 ? endOfCommit(position) : END_OF_EVENT
      const text = textOfChange(change) + end
      length += text.length
      this.#add({ text, events: 1 })
    }
    return length
  }

  #reset(reason: ResetReason): void {
    this.#endLog()
    this.#position = this.#changes.position
    this.#addReset(reason)
  }

  #addReset(reason: ResetReason): void {
    this.#isTold = true
    this.#add({ text: resetText(this.#position, reason), events: 1, resets: 1 })
  }

  #add(part: Part): void {
    this.#told.push(part)
  }

  #endLog(): void {
    void this.#log?.return?.()
    this.#log = null
  }
}

interface Start {
  readonly position: StreamPosition
  /** Why it is not where the reader stopped; null: it is, or is behind the newest commit. */
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
    // Nobody else writes: what is not there has never been, or is not any more.
    const wantedMs = since.sequence > head.sequence && stalenessMs() === 0 ? 0 : waitMs
    const isThere = await changes.reaches(since.sequence, wantedMs)
    if (waiting.isGone) throw abandoned()
    if (!isThere) {
      // Who has heard of all there is since it was asked knows that there is no such commit any more.
      if (stalenessMs() <= performance.now() - from) return anew('history_replaced')
      throw notReached(changes.position, since, wantedMs)
    }
    if (since.epoch !== changes.position.epoch) return anew('history_replaced')
  }
  return since.mark === null ? { position: since, reason: null } : startWithMark(changes, since)
}

/** Whether the commit there is the one that the reader has heard of. */
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
