/**
 * All readers with the same filter that have caught up. Their events are ranges of a block of text (`change-channels.ts`), so the channels
 * share its bytes:
 *
 *     block   ┌ event ┐↵┌ event ┐↵┌ event ┐↵┌ id ┐
 *     all      0───────────────────────27     28─40
 *     another           9──────────18         28─40
 */
import type { EventBytes } from './live-bytes.ts'
import type { ChangeFilter } from './change-filter.ts'

export interface ChangeBatch extends EventBytes {
  /** The environment whose changes it tells. */
  readonly owner: string
  /** Equal for batches that are of the same block, so that they share its bytes. */
  readonly block: number
  /** Events in it. */
  readonly events: number
  readonly resets: number
  /** Nothing comes after it: the streams end. */
  readonly isLast: boolean
}

/** The block that all channels of an environment share, as one of them uses it. */
export interface SharedBlock {
  readonly owner: string
  /** Where a lone end of a line is in the block. */
  lineEnd(): number
  /** Sends the present block to the readers. */
  flush(): void
}

let lastId = 0

export class ChangeChannel {
  /** Among all of the process. */
  readonly id = ++lastId
  readonly filter: ChangeFilter
  readonly #block: SharedBlock
  readonly #listeners = new Set<(batch: ChangeBatch) => void>()
  /** Begin and end of each range, alternately. */
  #ranges: number[] = []
  #length = 0
  #events = 0
  #resets = 0
  /** Whether the last event lacks its end: another one of the commit may follow, or the id. */
  #isOpen = false
  /** Whether readers have an id of the newest commit, or one that came with the events of it. */
  #isTold = true

  constructor(filter: ChangeFilter, block: SharedBlock) {
    this.filter = filter
    this.#block = block
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get isTold(): boolean {
    return this.#isTold
  }

  /** Calls the listener with each batch from now on. Returns a function that stops that. */
  listen(listener: (batch: ChangeBatch) => void): () => void {
    this.flush()
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Sends the present block to the readers of all channels of the environment. */
  flush(): void {
    this.#block.flush()
  }

  /** An event without its end, which the block has behind it. */
  tell(from: number, to: number): void {
    this.close()
    this.#add(from, to)
    this.#events += 1
    this.#isOpen = true
  }

  /** Ends the last event within a commit. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const last = this.#ranges.at(-1)
    const from = last ?? this.#block.lineEnd()
    this.#add(from, from + 1)
  }

  /** Ends a commit. `id` is the range of its id; null: no channel has an event of it. */
  endCommit(id: { readonly from: number; readonly to: number } | null): void {
    this.#isTold = this.#isOpen
    if (this.#isOpen && id) this.#add(id.from, id.to)
    this.#isOpen = false
  }

  /** Text that is whole. */
  say(from: number, to: number, { events = 0, resets = 0 } = {}): void {
    this.close()
    this.#add(from, to)
    this.#events += events
    this.#resets += resets
    this.#isTold = true
  }

  #add(from: number, to: number): void {
    const { length } = this.#ranges
    if (this.#ranges[length - 1] === from && length > 0) this.#ranges[length - 1] = to
    else this.#ranges.push(from, to)
    this.#length += to - from
  }

  /** Hands on its ranges of the block, whose bytes these are. */
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
