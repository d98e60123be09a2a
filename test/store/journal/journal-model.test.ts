/** Journaled tables compared with a plain map: writes, rollbacks, ranges, snapshots, checkpoints, replays. */
import { expect, test } from 'vitest'
import { AuthzError } from '#model/errors.ts'
import { JournaledTables } from '#store/journal/journaled-tables.ts'
import type { LargeWrites } from '#store/large-writes.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import type { RangeOptions, Table, Tables } from '#store/tables.ts'
import { Random } from '#testing/data/random.ts'
import { howToRepeat, seed } from '../../properties/seeded.ts'
import { runsOf } from '../../support/random-runs.ts'
import { writeThread } from './journals.ts'
import { ownDirectory } from '../../support/processes/temporary-directories.ts'

const NAMES = ['one', 'two', 'three'] as const
/** Letters of keys. Their number is small, so that keys often have common prefixes or are equal. */
const LETTERS = ['\0', 'a', 'b', '\x7f', 'ÿ']
const LONG_PREFIX = 'p'.repeat(1_970)
const STEPS = 250
/** Bytes after which the tables are opened again. Without checkpoints, the journal is then almost full. */
const LIFE_BYTES_MAX = 4_000_000

type Content = Map<string, Uint8Array>
type Model = Map<string, Content>

const thread = writeThread()
const refused = { checkpoint: () => Promise.reject(new AuthzError('STORE_REFUSED', 'not now')) }

/** Ways to open the tables: which thread makes the checkpoints, and after how many bytes. */
const LIVES: readonly {
  readonly by: Pick<LargeWrites, 'checkpoint'> | null
  readonly checkpointBytes?: number
}[] = [
  { by: thread },
  { by: thread, checkpointBytes: 1 },
  { by: thread, checkpointBytes: 20_000 },
  { by: null, checkpointBytes: 5_000 },
  // Checkpoints are refused, so the next opening replays the journal.
  { by: refused },
  { by: refused, checkpointBytes: 1 },
]

const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
const copyOf = (model: Model): Model => new Map([...model].map(([name, content]) => [name, new Map(content)]))
const emptyModel = (): Model => new Map(NAMES.map(name => [name, new Map()]))

class Run {
  readonly #random: Random
  readonly #directory = ownDirectory()
  #tables!: JournaledTables
  /** Content that readers see. */
  #model = emptyModel()
  #snapshots: { readonly tables: ReturnType<Tables['snapshot']>; readonly model: Model }[] = []
  #underWay: Promise<unknown>[] = []
  #bytes = 0

  constructor(seedOfRun: number) {
    this.#random = new Random(seedOfRun)
  }

  async go(): Promise<void> {
    await this.#open()
    for (let step = 0; step < STEPS; step += 1) await this.#step()
    await this.#reopen()
    this.#compareAll()
    await this.#tables.close()
  }

  async #step(): Promise<void> {
    const chance = this.#random.below(100)
    if (chance < 45) this.#write()
    else if (chance < 65) this.#read(this.#tables, this.#model)
    else if (chance < 75) await Promise.all(this.#underWay.splice(0))
    else if (chance < 80)
      this.#snapshots.push({ tables: this.#tables.snapshot(), model: copyOf(this.#model) })
    else if (chance < 88) this.#readSnapshot()
    else if (chance < 92) await turns(this.#random.below(60))
    else if (chance < 95) await this.#elsewhere()
    else if (chance < 97) await this.#reopen()
    if (this.#bytes > LIFE_BYTES_MAX) await this.#reopen()
  }

  async #open(): Promise<void> {
    const { by, ...options } = this.#random.pick(LIVES)
    this.#tables = await JournaledTables.open(new LmdbTables(this.#directory), by, options)
    for (const name of NAMES) this.#tables.table(name)
    this.#bytes = 0
  }

  async #reopen(): Promise<void> {
    await this.#tables.close()
    // The writes in progress were completed when the tables were closed.
    await Promise.all(this.#underWay.splice(0))
    this.#snapshots = []
    await this.#open()
    this.#compareAll()
  }

  #key(): string {
    const letters = Array.from({ length: 1 + this.#random.below(5) }, () => this.#random.pick(LETTERS)).join(
      '',
    )
    return this.#random.below(10) === 0 ? LONG_PREFIX + letters : letters
  }

  #value(isLong: boolean): Uint8Array {
    const chance = this.#random.below(200)
    let size = this.#random.below(40)
    if (isLong && chance === 0) size = 1_000_000
    else if (isLong && chance < 8) size = this.#random.below(100_000)
    return new Uint8Array(size).fill(this.#random.below(256))
  }

  /** Makes the same changes in the tables and in the model, and reads them within the write. */
  #change(tables: Tables, model: Model): void {
    // Some writes have so many changes that the memtable must grow.
    const changes = this.#random.chance(0.03) ? 2_500 : this.#random.below(30)
    for (let change = 0; change < changes; change += 1) {
      const name = this.#random.pick(NAMES)
      const key = this.#key()
      if (this.#random.below(3) === 0) {
        tables.table(name).remove(latin(key))
        model.get(name)!.delete(key)
      } else {
        const value = this.#value(change < 30)
        this.#bytes += key.length + value.length
        tables.table(name).put(latin(key), value)
        model.get(name)!.set(key, value)
      }
      if (this.#random.below(20) === 0 && change < 30) this.#read(tables, model)
    }
  }

  #write(): void {
    const isThrown = this.#random.below(6) === 0
    let changed: Model
    const action = () => {
      changed = copyOf(this.#model)
      this.#change(this.#tables, changed)
      if (isThrown) throw new Error('changed my mind')
    }
    const write = this.#tables.write(action, () => (this.#model = changed))
    this.#underWay.push(isThrown ? expect(write).rejects.toThrow(/changed my mind|not now/) : made(write))
  }

  async #elsewhere(): Promise<void> {
    const changing = this.#tables.elsewhere(async tables => {
      const changed = copyOf(this.#model)
      await tables.write(() => this.#change(tables, changed))
      this.#model = changed
    })
    await made(changing)
  }

  #readSnapshot(): void {
    if (this.#snapshots.length === 0) return
    const at = this.#random.below(this.#snapshots.length)
    const { tables, model } = this.#snapshots[at]!
    this.#read(tables, model)
    if (this.#random.below(4) > 0) return
    tables.release()
    this.#snapshots.splice(at, 1)
  }

  #read(tables: Pick<Tables, 'table'>, model: Model): void {
    const name = this.#random.pick(NAMES)
    const [table, content] = [tables.table(name), model.get(name)!]
    const key = this.#key()
    expectEqual(table.get(latin(key)), content.get(key))
    const start = this.#random.below(5) === 0 ? '' : this.#key()
    const end = this.#random.below(2) === 0 ? null : this.#key()
    const offset = this.#random.below(2) === 0 ? 0 : this.#random.below(content.size + 3)
    const stopAfter = this.#random.below(2) === 0 ? Infinity : this.#random.below(10)
    compare(
      table,
      content,
      { start: latin(start), ...(end !== null && { end: latin(end) }), offset },
      stopAfter,
    )
  }

  #compareAll(): void {
    for (const name of NAMES)
      compare(this.#tables.table(name), this.#model.get(name)!, { start: new Uint8Array(0) }, Infinity)
  }
}

function compare(table: Table, content: Content, options: RangeOptions, stopAfter: number): void {
  const [start, end] = [textOf(options.start), options.end && textOf(options.end)]
  const expected = [...content.keys()]
    .filter(key => key >= start)
    .toSorted((one, other) => (one < other ? -1 : 1))
    .slice(options.offset ?? 0)
    .filter(key => end === undefined || key < end)
    .slice(0, stopAfter)
  const found: string[] = []
  for (const { key, value } of table.range(options)) {
    if (found.length >= stopAfter) break
    found.push(textOf(key))
    expectEqual(value, content.get(textOf(key)))
  }
  expect(found, howToRepeat).toEqual(expected)
}

function expectEqual(found: Uint8Array | undefined, expected: Uint8Array | undefined): void {
  const isEqual = found && expected ? Buffer.compare(found, expected) === 0 : found === expected
  if (!isEqual) expect(found && textOf(found), howToRepeat).toBe(expected && textOf(expected))
}

/** Lets the disk and other threads run for `count` iterations of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

/** Awaits a change, which a full journal refuses if checkpoints are refused. */
async function made(change: Promise<void>): Promise<void> {
  await change.catch((error: unknown) => expect(error).toMatchObject({ message: 'not now' }))
}

test.each(Array.from({ length: runsOf(2) }, (_, number) => number))(
  'journaled tables match a map in history %i',
  async number => {
    await new Run(seed + number).go()
  },
)
