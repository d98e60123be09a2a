/**
 * Manages the channels of an environment, one for each filter. Each event is written once, into a block that
 * all channels share. Events of the same event-loop iteration are sent together. If there are many events, a
 * block collects them for `BLOCK_EVERY_MS`.
 */
import type { ResetReason } from '#entities/change-event.ts'
import { ChangeChannel, type SharedBlock } from './change-channel.ts'
import type { SourceEvent } from './change-events.ts'
import type { ChangeFilter } from './change-filter.ts'
import {
  END_OF_EVENT,
  endOfCommit,
  endText,
  HEARTBEAT_TEXT,
  positionText,
  resetText,
  textOfChange,
} from './event-text.ts'
import type { StreamPosition } from './stream-position.ts'
import { TextBlock } from './text-block.ts'

/** Minimum time between two blocks under load. Each block costs one write for each connection. */
const BLOCK_EVERY_MS = 8
/** A block of this size is sent immediately. */
const BLOCK_BYTES_MAX = 262_144

let lastBlock = 0

export class ChangeChannels implements SharedBlock {
  readonly owner: string
  readonly #channels = new Map<string, ChangeChannel>()
  readonly #block = new TextBlock()
  #lineEnd: number | null = null
  #isPlanned = false
  #handedAt = -Infinity

  constructor(owner: string) {
    this.owner = owner
  }

  get size(): number {
    return this.#channels.size
  }

  filters(): ChangeFilter[] {
    return [...this.#channels.values()].map(({ filter }) => filter)
  }

  /** Returns the channel for a filter. `forget` removes the channel after its last listener has left. */
  of(filter: ChangeFilter): ChangeChannel {
    const known = this.#channels.get(filter.name) ?? new ChangeChannel(filter, this)
    this.#channels.set(filter.name, known)
    return known
  }

  forget(channel: ChangeChannel): void {
    if (!channel.hasListeners && this.#channels.get(channel.filter.name) === channel)
      this.#channels.delete(channel.filter.name)
  }

  clear(): void {
    this.flush()
    this.#channels.clear()
  }

  /** Adds one event of the current commit. O(channels). */
  add(change: SourceEvent): void {
    let event: { readonly from: number; readonly to: number } | null = null
    for (const channel of this.#channels.values()) {
      if (!channel.filter.lets(change)) continue
      event ??= this.#write(textOfChange(change), END_OF_EVENT)
      channel.note(event.from, event.to)
    }
    this.#plan()
  }

  /** Ends the current commit. */
  endCommit(position: StreamPosition): void {
    let id: { readonly from: number; readonly to: number } | null = null
    for (const channel of this.#channels.values()) {
      if (channel.isOpen) id ??= this.#write(endOfCommit(position))
      channel.endCommit(id)
    }
    this.#plan()
  }

  reset(position: StreamPosition, reason: ResetReason): void {
    if (this.#channels.size === 0) return
    const { from, to } = this.#write(resetText(position, reason))
    for (const channel of this.#channels.values()) channel.send(from, to, { events: 1, resets: 1 })
    this.#plan()
  }

  /**
   * Sends a heartbeat, or the position to channels that have not sent it yet. Must not be called within a
   * commit.
   */
  beat(position: StreamPosition): void {
    let [heartbeat, written]: ({ readonly from: number; readonly to: number } | null)[] = [null, null]
    for (const channel of this.#channels.values()) {
      if (channel.isPositionSent) {
        heartbeat ??= this.#write(HEARTBEAT_TEXT)
        channel.send(heartbeat.from, heartbeat.to)
      } else {
        written ??= this.#write(positionText(position))
        channel.send(written.from, written.to, { events: 1 })
      }
    }
    this.#plan()
  }

  end(reason: string): void {
    if (this.#channels.size === 0) return
    const { from, to } = this.#write(endText('closing', reason))
    for (const channel of this.#channels.values()) channel.send(from, to, { events: 1 })
    this.#hand(true)
  }

  lineEnd(): number {
    this.#lineEnd ??= this.#block.write('\n')
    return this.#lineEnd
  }

  flush(): void {
    if (this.#block.length > 0) this.#hand(false)
  }

  /** Writes `text`, followed by `end`. The returned range excludes `end`. */
  #write(text: string, end = '') {
    const from = this.#block.write(text)
    const to = this.#block.length
    if (end !== '') this.#block.write(end)
    return { from, to }
  }

  #hand(isLast: boolean): void {
    this.#handedAt = performance.now()
    this.#lineEnd = null
    const bytes = this.#block.take()
    lastBlock += 1
    for (const channel of this.#channels.values()) channel.hand(lastBlock, bytes, isLast)
  }

  /** Schedules the next block. A single event is sent at the end of the event-loop iteration. */
  #plan(): void {
    if (this.#block.length >= BLOCK_BYTES_MAX) return this.flush()
    if (this.#isPlanned || this.#block.length === 0) return
    this.#isPlanned = true
    const flush = (): void => {
      this.#isPlanned = false
      this.flush()
    }
    const waitMs = this.#handedAt + BLOCK_EVERY_MS - performance.now()
    if (waitMs > 0) setTimeout(flush, waitMs)
    else setImmediate(flush)
  }
}
