/**
 * A channel serves all caught-up readers that have the same filter. The channels of an environment share a
 * block of text (`change-channels.ts`). The events of a channel are ranges of that block:
 *
 *     block   ┌ event ┐↵┌ event ┐↵┌ event ┐↵┌ id ┐
 *     all      0───────────────────────27     28─40
 *     another           9──────────18         28─40
 */
import type { EventBytes } from './live-bytes.ts'
import type { ChangeFilter } from './change-filter.ts'

export interface ChangeBatch extends EventBytes {
  /** Id of the environment. */
  readonly owner: string
  /** Number of the block. Batches with the same number share its bytes. */
  readonly block: number
  /** Number of events in the batch. */
  readonly events: number
  readonly resets: number
  /** Whether the streams end after this batch. */
  readonly isLast: boolean
}

/** Operations of the shared block that a channel uses. */
export interface SharedBlock {
  readonly owner: string
  /** Offset of a single line end in the block. */
  lineEnd(): number
  /** Sends the current block to the readers. */
  flush(): void
}

let lastId = 0

export class ChangeChannel {
  /** Unique within the process. */
  readonly id = ++lastId
  readonly filter: ChangeFilter
  readonly #block: SharedBlock
  readonly #listeners = new Set<(batch: ChangeBatch) => void>()
  /** Begin and end of each range, alternately. */
  #ranges: number[] = []
  #length = 0
  #events = 0
  #resets = 0
  /**
   * Whether the last event lacks its final line. Either another event of the commit or the commit's id
   * follows.
   */
  #isOpen = false
  /** Whether readers have the id of the newest commit. */
  #isPositionSent = true

  constructor(filter: ChangeFilter, block: SharedBlock) {
    this.filter = filter
    this.#block = block
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get isPositionSent(): boolean {
    return this.#isPositionSent
  }

  /** Calls the listener with each further batch. Returns a function that removes the listener. */
  listen(listener: (batch: ChangeBatch) => void): () => void {
    this.flush()
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Sends the current block to the readers of all channels of the environment. */
  flush(): void {
    this.#block.flush()
  }

  /** Adds an event without its final line, which follows it in the block. */
  note(from: number, to: number): void {
    this.close()
    this.#add(from, to)
    this.#events += 1
    this.#isOpen = true
  }

  /** Adds the final line of the last event if the commit has more events. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const last = this.#ranges.at(-1)
    const from = last ?? this.#block.lineEnd()
    this.#add(from, from + 1)
  }

  /** Ends a commit. `id` is the range of its id; null if no channel has an event of the commit. */
  endCommit(id: { readonly from: number; readonly to: number } | null): void {
    this.#isPositionSent = this.#isOpen
    if (this.#isOpen && id) this.#add(id.from, id.to)
    this.#isOpen = false
  }

  /** Adds text that needs no final line. */
  send(from: number, to: number, { events = 0, resets = 0 } = {}): void {
    this.close()
    this.#add(from, to)
    this.#events += events
    this.#resets += resets
    this.#isPositionSent = true
  }

  #add(from: number, to: number): void {
    const { length } = this.#ranges
    if (this.#ranges[length - 1] === from && length > 0) this.#ranges[length - 1] = to
    else this.#ranges.push(from, to)
    this.#length += to - from
  }

  /** Passes the collected ranges of the block and its bytes to the listeners. */
  hand(block: number, bytes: Uint8Array, isLast: boolean): void {
    if (this.#ranges.length === 0 && !isLast) return
    const ranges = Uint32Array.from(this.#ranges)
    const [length, events, resets] = [this.#length, this.#events, this.#resets]
    this.#ranges = []
    this.#length = 0
    this.#events = 0
    this.#resets = 0
    const { owner } = this.#block
    for (const listener of this.#listeners)
      listener({ owner, block, bytes, ranges, length, events, resets, isLast })
    if (isLast) this.#listeners.clear()
  }
}
