/**
 * Commits of the log, in parts, for readers that catch up. A part is written out once, for all readers that come to it while it is
 * kept. A commit may be much larger than a part: its next part is made when a reader has taken the one before, from the log again.
 *
 * One commit at a time is decoded in an environment, and a few in all. The parts that are kept have a limit (`HeldBytes`): a reader that holds a part
 * and takes nothing is ended when others need the room.
 */
import { type ReadLane, ReadLanes } from '#management/commands/read-lanes.ts'
import type { Slices } from '#management/commands/fair-turns.ts'
import type { Entry } from '#store/ledger.ts'
import { type FilteredChange, OlderReleaseError, type ToldChange } from './change-events.ts'
import type { ChangeFilter } from './change-filter.ts'
import type { ChangeTeller, Telling } from './change-teller.ts'
import { textOfChange } from './event-text.ts'
import { type Held, HeldBytes } from './held-bytes.ts'
import { positionOf, type StreamPosition } from './stream-position.ts'
import { TextBlock } from './text-block.ts'

/** Memory that a part takes, about. */
const PART_BYTES = 4_194_304
/** Text that is encoded at a time. */
const CHUNK_BYTES = 65_536
/** A smaller part is made again and not kept. */
const WORTH_KEEPING_BYTES = 65_536
/** Memory that an event takes in addition to its text. */
const EVENT_BYTES = 200
/** Steps between two looks at the clock. */
const STEPS_AT_ONCE = 32
/** Commits that are decoded at the same time, in all environments. */
const DECODED_AT_ONCE = 4

/** An event in a part, without its end. */
export interface PartEvent {
  readonly about: FilteredChange
  /** Text of this and other events. */
  readonly bytes: Uint8Array
  readonly from: number
  readonly to: number
}

/** Events of one commit. */
export interface CommitPart {
  /** The commit. */
  readonly position: StreamPosition
  readonly events: readonly PartEvent[]
  /** The step of the commit at which the next part begins; null: there is none. */
  readonly next: number | null
  /** Whether an older release made the commit and logged too little of it. */
  readonly isOlder: boolean
}

/** A reader that may hold a part. */
export interface CatchUpReader {
  /** Others need the room of the part that it holds. */
  endSlow(): void
}

type HeldPart = { readonly part: CommitPart; readonly held: Held<CatchUpReader> | null }

/** The catch-ups of all environments. */
export class CatchUps {
  readonly lanes = new ReadLanes(DECODED_AT_ONCE)
  readonly held: HeldBytes<CatchUpReader>
  readonly partBytes: number

  /** `bytesMax`: of what is kept for all readers that catch up. */
  constructor(bytesMax = Infinity, partBytes = PART_BYTES) {
    this.held = new HeldBytes(bytesMax, reader => reader.endSlow())
    this.partBytes = partBytes
  }
}

interface Wanted {
  /** The commit before the wanted one. */
  readonly after: StreamPosition
  /** The step at which the part begins. */
  readonly from: number
  readonly filter: ChangeFilter
  readonly reader: CatchUpReader
  /** Reads the commit from the log. */
  readonly read: () => Promise<Entry>
}

/** The catch-ups of the changes of one environment. */
export class EnvironmentCatchUps {
  readonly #all: CatchUps
  readonly #owner: string
  readonly #teller: ChangeTeller
  readonly #slices: Slices
  readonly #lane: ReadLane
  readonly #parts = new Map<string, Promise<HeldPart>>()
  readonly #readers = new Set<CatchUpReader>()
  readonly #kept = new Set<Held<CatchUpReader>>()
  readonly #holding = new Map<CatchUpReader, Held<CatchUpReader>>()

  constructor(all: CatchUps, owner: string, teller: ChangeTeller, slices: Slices) {
    this.#all = all
    this.#owner = owner
    this.#teller = teller
    this.#slices = slices
    this.#lane = all.lanes.lane()
  }

  /** The next part of the log for a reader, who holds it until it asks for another one or ends. */
  async part(wanted: Wanted): Promise<CommitPart> {
    const { after, from, filter, reader } = wanted
    this.#letGo(reader)
    this.#readers.add(reader)
    const whose = this.#teller.isRepeatable ? '' : filter.name
    const name = JSON.stringify([after.epoch, after.sequence, from, whose])
    const known = this.#parts.get(name)
    const making = known ?? this.#lane.run(() => this.#make(name, wanted))
    this.#parts.set(name, making)
    try {
      const { part, held } = await making
      if (held === null) this.#parts.delete(name)
      else if (this.#readers.has(reader)) this.#hold(reader, held)
      return part
    } catch (error) {
      this.#parts.delete(name)
      // The log of the reader who made it may have ended with that reader.
      if (known && this.#readers.has(reader)) return this.part(wanted)
      throw error
    }
  }

  /** The reader catches up no more. Safe to repeat. */
  end(reader: CatchUpReader): void {
    this.#letGo(reader)
    if (this.#readers.delete(reader) && this.#readers.size === 0) this.clear()
  }

  /** Drops all parts: the log continues with another history, or no reader catches up. */
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

  async #make(name: string, { from, filter, read }: Wanted): Promise<HeldPart> {
    const entry = await read()
    const bytesMax = this.#teller.isRepeatable ? this.#all.partBytes : Infinity
    const maker = new PartMaker(() => this.#teller.replayed(entry, filter), from, bytesMax)
    while (!(await this.#slices.run(until => maker.work(until))));
    const { bytes } = maker
    const part = { ...maker.made(), position: positionOf(entry) }
    // Without readers `end` does not come to drop it.
    if (bytes < WORTH_KEEPING_BYTES || this.#readers.size === 0) return { part, held: null }
    const held = this.#all.held.add(this.#owner, bytes, () => {
      this.#kept.delete(held)
      this.#parts.delete(name)
    })
    this.#kept.add(held)
    return { part, held }
  }
}

/** Writes out a part, in slices. */
class PartMaker {
  readonly #begin: () => Telling
  /** Null before the first slice: the entry is decoded within it. */
  #telling: Telling | null = null
  readonly #from: number
  readonly #bytesMax: number
  readonly #events: PartEvent[] = []
  readonly #block = new TextBlock()
  /** The events in the block. */
  #pending: Omit<PartEvent, 'bytes'>[] = []
  #steps = 0
  #next: number | null = null
  #isOlder = false
  /** Memory that the part takes. */
  bytes = 0

  constructor(begin: () => Telling, from: number, bytesMax: number) {
    this.#begin = begin
    this.#from = from
    this.#bytesMax = bytesMax
  }

  /** Returns whether the part is whole. */
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
      this.#telling ??= this.#begin()
      const { done, value } = this.#telling.next()
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
    this.#telling?.return()
    return this.#end()
  }

  #write(change: ToldChange): void {
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
