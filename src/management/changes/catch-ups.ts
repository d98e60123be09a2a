/**
 * Reads commits from the log in parts, for change-stream readers that catch up. Each part is encoded once and
 * shared by all readers that reach it while it is cached. A commit can be much larger than a part. The next
 * part is made from the log when a reader has finished the previous one.
 *
 * Each environment decodes one commit at a time, and all environments together at most `DECODED_AT_ONCE`. The
 * cached parts have a memory limit (`HeldBytes`): if the space is needed, a reader that holds a part and does
 * not read is disconnected.
 */
import { type ReadQueue, ReadQueues } from '#scheduling/admission.ts'
import type { TimeShare } from '#scheduling/thread-scheduler.ts'
import type { LogEntry } from '#store/ledger.ts'
import { type FilteredChange, OlderReleaseError, type SourceEvent } from './change-events.ts'
import type { ChangeFilter } from './change-filter.ts'
import type { ChangeEventSource, SourceEvents } from './change-event-source.ts'
import { textOfChange } from './event-text.ts'
import { type Held, HeldBytes } from './held-bytes.ts'
import { positionOf, type StreamPosition } from './stream-position.ts'
import { TextBlock } from './text-block.ts'

/** Approximate memory of a part. */
const PART_BYTES = 4_194_304
/** Text is encoded in chunks of this size. */
const CHUNK_BYTES = 65_536
/** Smaller parts are not cached, but made again. */
const WORTH_KEEPING_BYTES = 65_536
/** Memory of an event in addition to its text. */
const EVENT_BYTES = 200
/** Steps between two checks of the clock. */
const STEPS_AT_ONCE = 32
/** Commits decoded concurrently in all environments. */
const DECODED_AT_ONCE = 4

/** An event in a part, without the line that ends it. */
export interface PartEvent {
  readonly about: FilteredChange
  /** Bytes shared by several events. This event has the range from `from` to `to`. */
  readonly bytes: Uint8Array
  readonly from: number
  readonly to: number
}

/** Events of one commit. */
export interface CommitPart {
  /** Position of the commit. */
  readonly position: StreamPosition
  readonly events: readonly PartEvent[]
  /** Step of the commit at which the next part begins; null if this part is the last. */
  readonly next: number | null
  /** Whether an older release wrote the commit and logged too little to derive its events. */
  readonly isOlder: boolean
}

/** A reader that can hold a part. */
export interface CatchUpReader {
  /** Disconnects the reader because the memory of its part is needed. */
  endSlow(): void
}

type HeldPart = { readonly part: CommitPart; readonly held: Held<CatchUpReader> | null }

/** Catch-up reads of all environments. */
export class CatchUps {
  readonly queues = new ReadQueues(DECODED_AT_ONCE)
  readonly held: HeldBytes<CatchUpReader>
  readonly partBytes: number

  /** `bytesMax` limits the parts that are cached for all readers. */
  constructor(bytesMax = Infinity, partBytes = PART_BYTES) {
    this.held = new HeldBytes(bytesMax, reader => reader.endSlow())
    this.partBytes = partBytes
  }
}

interface PartQuery {
  /** Position of the commit before the wanted one. */
  readonly after: StreamPosition
  /** Step at which the part begins. */
  readonly from: number
  readonly filter: ChangeFilter
  readonly reader: CatchUpReader
  /** Reads the commit from the log. */
  readonly read: () => Promise<LogEntry>
}

/** Catch-up reads of the changes of one environment. */
export class EnvironmentCatchUps {
  readonly #all: CatchUps
  readonly #owner: string
  readonly #source: ChangeEventSource
  readonly #timeShare: TimeShare
  readonly #queue: ReadQueue
  readonly #parts = new Map<string, Promise<HeldPart>>()
  readonly #readers = new Set<CatchUpReader>()
  readonly #kept = new Set<Held<CatchUpReader>>()
  readonly #holding = new Map<CatchUpReader, Held<CatchUpReader>>()

  constructor(all: CatchUps, owner: string, source: ChangeEventSource, timeShare: TimeShare) {
    this.#all = all
    this.#owner = owner
    this.#source = source
    this.#timeShare = timeShare
    this.#queue = all.queues.queue()
  }

  /**
   * Returns the next part of the log for a reader. The reader holds the part until it requests another one or
   * ends.
   */
  async part(wanted: PartQuery): Promise<CommitPart> {
    const { after, from, filter, reader } = wanted
    this.#letGo(reader)
    this.#readers.add(reader)
    const whose = this.#source.isRepeatable ? '' : filter.name
    const name = JSON.stringify([after.epoch, after.sequence, from, whose])
    const known = this.#parts.get(name)
    const making = known ?? this.#queue.run(() => this.#make(name, wanted))
    this.#parts.set(name, making)
    try {
      const { part, held } = await making
      if (held === null) this.#parts.delete(name)
      else if (this.#readers.has(reader)) this.#hold(reader, held)
      return part
    } catch (error) {
      this.#parts.delete(name)
      // The log iterator of the reader that made the part may have ended with that reader.
      if (known && this.#readers.has(reader)) return this.part(wanted)
      throw error
    }
  }

  /** Removes a reader that no longer catches up. Idempotent. */
  end(reader: CatchUpReader): void {
    this.#letGo(reader)
    if (this.#readers.delete(reader) && this.#readers.size === 0) this.clear()
  }

  /** Drops all parts, because the history was replaced or no reader catches up. */
  clear(): void {
    for (const held of this.#kept) this.#all.held.drop(held)
    this.#parts.clear()
  }

  #letGo(reader: CatchUpReader): void {
    this.#holding.get(reader)?.holders.delete(reader)
    this.#holding.delete(reader)
  }

  #hold(reader: CatchUpReader, held: Held<CatchUpReader>): void {
    this.#letGo(reader)
    held.holders.add(reader)
    this.#holding.set(reader, held)
  }

  async #make(name: string, { from, filter, read }: PartQuery): Promise<HeldPart> {
    const entry = await read()
    const bytesMax = this.#source.isRepeatable ? this.#all.partBytes : Infinity
    const maker = new PartMaker(() => this.#source.replayed(entry, filter), from, bytesMax)
    while (!(await this.#timeShare.takeSoon(until => maker.work(until))));
    const { bytes } = maker
    const part = { ...maker.made(), position: positionOf(entry) }
    // Without readers, `end` is not called and would never drop the part.
    if (bytes < WORTH_KEEPING_BYTES || this.#readers.size === 0) return { part, held: null }
    const held = this.#all.held.add(this.#owner, bytes, () => {
      this.#kept.delete(held)
      this.#parts.delete(name)
    })
    this.#kept.add(held)
    return { part, held }
  }
}

/** Encodes a part in time slices. */
class PartMaker {
  readonly #begin: () => SourceEvents
  /** Null before the first slice, because decoding the entry belongs to that slice. */
  #source: SourceEvents | null = null
  readonly #from: number
  readonly #bytesMax: number
  readonly #events: PartEvent[] = []
  readonly #block = new TextBlock()
  /** Events whose text is in the block. */
  #pending: Omit<PartEvent, 'bytes'>[] = []
  #steps = 0
  #next: number | null = null
  #isOlder = false
  /** Memory of the part. */
  bytes = 0

  constructor(begin: () => SourceEvents, from: number, bytesMax: number) {
    this.#begin = begin
    this.#from = from
    this.#bytesMax = bytesMax
  }

  /** Returns whether the part is complete. */
  work(until: number): boolean {
    do {
      for (let count = 0; count < STEPS_AT_ONCE; count++) if (this.#step()) return true
    } while (performance.now() < until)
    return false
  }

  made(): Omit<CommitPart, 'position'> {
    return { events: this.#events, next: this.#next, isOlder: this.#isOlder }
  }

  #step(): boolean {
    try {
      this.#source ??= this.#begin()
      const { done, value } = this.#source.next()
      if (done === true) return this.#end()
      if (value && this.#steps >= this.#from) this.#write(value)
    } catch (error) {
      if (!(error instanceof OlderReleaseError)) throw error
      this.#isOlder = true
      return this.#end()
    }
    this.#steps += 1
    if (this.bytes < this.#bytesMax) return false
    this.#next = this.#steps
    this.#source?.return()
    return this.#end()
  }

  #write(change: SourceEvent): void {
    const from = this.#block.write(textOfChange(change))
    const to = this.#block.length
    const { noun, verb, types, tenant, permission } = change
    this.#pending.push({ about: { noun, verb, types, tenant, ...(permission && { permission }) }, from, to })
    this.bytes += to - from + EVENT_BYTES
    if (to >= CHUNK_BYTES) this.#end()
  }

  #end(): true {
    const bytes = this.#block.take()
    for (const event of this.#pending) this.#events.push({ ...event, bytes })
    this.#pending = []
    return true
  }
}
