/**
 * All readers with the same filter that have caught up. What a commit means is written out once for them, joined with what comes in the
 * same turn of the event loop, or in some milliseconds where much comes, and handed on as one piece of bytes.
 */
import type { ResetReason } from '#model/wire/change-event.ts'
import type { ToldChange } from './change-events.ts'
import type { ChangeFilter } from './change-filter.ts'
import { END_OF_EVENT, endOfCommit, endText, HEARTBEAT_TEXT, positionText, resetText } from './event-text.ts'
import type { StreamPosition } from './stream-position.ts'

export interface ChangeBatch {
  readonly bytes: Uint8Array
  /** Events in it. */
  readonly events: number
  readonly resets: number
  /** Nothing comes after it: the streams end. */
  readonly isLast: boolean
}

/** Between two pieces, while more and more comes: each costs every connection a write. */
const PIECE_EVERY_MS = 8
/** Text that is handed on before its time. */
const TEXT_LENGTH_MAX = 262_144

const encoder = new TextEncoder()
let lastId = 0

export class ChangeChannel {
  /** Among all of the process. */
  readonly id = ++lastId
  readonly filter: ChangeFilter
  readonly #listeners = new Set<(batch: ChangeBatch) => void>()
  #texts: string[] = []
  #length = 0
  #events = 0
  #resets = 0
  #isPlanned = false
  #handedAt = -Infinity
  /** Whether readers have an id of the newest commit, or one that came with the events of it. */
  #isTold = true

  constructor(filter: ChangeFilter) {
    this.filter = filter
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  /** Hears what comes from now on. Returns how to stop that. */
  listen(listener: (batch: ChangeBatch) => void): () => void {
    this.flush()
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The events of a commit; `textOf` writes one out. */
  tell(
    changes: readonly ToldChange[],
    textOf: (change: ToldChange) => string,
    position: StreamPosition,
  ): void {
    const told = changes.filter(change => this.filter.lets(change))
    this.#isTold = told.length > 0
    for (const [place, change] of told.entries()) {
      this.#add(textOf(change), 1)
      this.#add(place === told.length - 1 ? endOfCommit(position) : END_OF_EVENT)
    }
  }

  reset(position: StreamPosition, reason: ResetReason): void {
    this.#resets += 1
    this.#isTold = true
    this.#add(resetText(position, reason), 1)
  }

  /** Says that the connection is alive, and how far everything has been told. */
  beat(position: StreamPosition): void {
    if (this.#isTold) this.#add(HEARTBEAT_TEXT)
    else this.#add(positionText(position), 1)
    this.#isTold = true
  }

  end(reason: string): void {
    this.#add(endText('closing', reason), 1)
    this.#hand(true)
    this.#listeners.clear()
  }

  /** Hands on what has been told. */
  flush(): void {
    if (this.#texts.length > 0) this.#hand(false)
  }

  #add(text: string, events = 0): void {
    this.#texts.push(text)
    this.#events += events
    this.#length += text.length
    if (this.#length >= TEXT_LENGTH_MAX) this.flush()
    else if (!this.#isPlanned) {
      this.#isPlanned = true
      this.#plan()
    }
  }

  /** What comes alone goes at the end of the turn. */
  #plan(): void {
    const flush = (): void => {
      this.#isPlanned = false
      this.flush()
    }
    const waitMs = this.#handedAt + PIECE_EVERY_MS - performance.now()
    if (waitMs > 0) setTimeout(flush, waitMs)
    else setImmediate(flush)
  }

  #hand(isLast: boolean): void {
    const bytes = encoder.encode(this.#texts.join(''))
    const batch = { bytes, events: this.#events, resets: this.#resets, isLast }
    this.#handedAt = performance.now()
    this.#texts = []
    this.#length = 0
    this.#events = 0
    this.#resets = 0
    for (const listener of this.#listeners) listener(batch)
  }
}
