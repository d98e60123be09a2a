/**
 * The ledger of an embedded store. Commits, log and view are in the same tables and change in one write.
 * Therefore they are always consistent, for every reader and after a crash.
 *
 *     meta     'epoch'   →  name of the epoch
 *     meta     'format'  →  version of everything stored in these tables
 *
 * Invariants: the sequence of the ledger is that of the view, and a feed delivers only durable commits.
 * Readers of the view see a commit when it is applied, a moment before it is on disk. Therefore `head` and
 * the feed use a separate mark. The ledger does not queue, batch or retry: the tables order the writes, and
 * callers handle conflicts. Another thread (`large-writes.ts`) makes large commits. That thread opens a
 * ledger like this one on the stored tables. All results of a commit are in the tables, and no other memory
 * holds state of the commit.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { assert } from '#model/assert.ts'
import { AuthzError, ConflictError } from '#model/errors.ts'
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import type { Revision } from '#model/revision.ts'
import { textOf } from '#model/text/byte-text.ts'
import { type LargeWrites, ThreadLostError } from '#store/large-writes.ts'
import type { Commit, LogEntry, Ledger, Requirement, Row } from '#store/ledger.ts'
import { LostStoreError } from '#store/lost-store-error.ts'
import type { Tables } from '#store/tables.ts'
import { storeClosed } from '#store/store-closed-error.ts'
import { CommitLog, LOG_ENTRIES_MAX_DEFAULT } from './commit-log.ts'
import { DurableMark, HandedCommits, LogFeed, logReader } from './log-feed.ts'
import { CREATED_PER_COMMIT, type TableView } from './table-view.ts'

/** Format of the tables. It must be incremented if the stored form of any data in the tables changes. */
const FORMAT = '3'
/**
 * Older formats that this release reads. Opening tables in such a format marks them with the current format,
 * because a release that does not support the journal must not open them afterwards.
 */
const FORMER_FORMATS: ReadonlySet<string> = new Set(['2'])

/** Interval in milliseconds between checks whether commits with an unknown outcome have become durable. */
const ADVANCE_MS = 500

export interface EmbeddedLedgerOptions {
  readonly tables: Tables
  /** View over the tables of the ledger. */
  readonly view: TableView
  /** Number of newest entries that the log keeps, at least 1. */
  readonly logEntriesMax?: number
  /** Whether an epoch may begin if the tables are empty. Default: true. */
  readonly mayBegin?: boolean
  /** Makes commits that would block this thread for too long. If absent, this thread makes all commits. */
  readonly largeWrites?: LargeWrites | null
}

export class EmbeddedLedger implements Ledger {
  readonly #tables: Tables
  readonly #view: TableView
  readonly #log: CommitLog
  readonly #epoch: string
  readonly #durable: DurableMark
  readonly #logEntriesMax: number
  readonly #largeWrites: LargeWrites | null
  /** Commits that are in progress in another thread. */
  readonly #elsewhere = new Set<Promise<unknown>>()
  readonly #handed: HandedCommits
  #isAdvancing = false

  /**
   * Opens the ledger in these tables. If the tables are empty, begins an epoch. Throws `STORE_DAMAGED` if
   * they are empty and no epoch may begin. Throws `INVALID_INPUT` if another release wrote the tables.
   */
  static async open(options: EmbeddedLedgerOptions): Promise<EmbeddedLedger> {
    const { tables, mayBegin = true } = options
    const meta = tables.table('meta')
    const log = new CommitLog(tables, options.logEntriesMax ?? LOG_ENTRIES_MAX_DEFAULT)
    const stored = meta.get(encode('format'))
    const format = stored === undefined ? null : decode(stored)
    if (format === null && !mayBegin) throw new LostStoreError('its tables are empty')
    if (format !== null && format !== FORMAT && !FORMER_FORMATS.has(format)) {
      const message = `the store has format ${format}, but this release reads format ${FORMAT}: start the release that wrote it`
      throw new AuthzError('INVALID_INPUT', message)
    }
    if (format !== FORMAT) await tables.elsewhere(direct => noteFormat(direct, format === null))
    return new EmbeddedLedger(options, log, decode(meta.get(encode('epoch'))!))
  }

  private constructor(options: EmbeddedLedgerOptions, log: CommitLog, epoch: string) {
    this.#tables = options.tables
    this.#view = options.view
    this.#log = log
    this.#epoch = epoch
    this.#durable = new DurableMark(options.view.sequence())
    this.#logEntriesMax = options.logEntriesMax ?? LOG_ENTRIES_MAX_DEFAULT
    this.#handed = new HandedCommits(this.#durable, this.#logEntriesMax)
    this.#largeWrites = options.largeWrites ?? null
  }

  async head(): Promise<Revision> {
    this.#assertOpen()
    return this.#revision(this.#durable.sequence)
  }

  async commit(commit: Commit, onApplied?: (blockedMs: number) => void): Promise<Revision> {
    this.#assertOpen()
    const rows = commit.put.length + commit.delete.length
    if (rows > COMMIT_ROWS_MAX) {
      const message = `a commit writes at most ${COMMIT_ROWS_MAX} rows, got ${rows}: split it into several commits`
      throw new AuthzError('LIMIT_EXCEEDED', message)
    }
    // If a caller passes `onApplied`, it adapts the size of its commits to the measured times. This thread
    // makes such commits.
    if (onApplied === undefined && this.#largeWrites?.isLarge(commit)) {
      const sequence = await this.#commitElsewhere(this.#largeWrites, commit)
      if (sequence !== null) return this.#revision(sequence)
    }
    return this.#whenDurable(this.#commitHere(commit, onApplied))
  }

  #commitHere(commit: Commit, onApplied?: (blockedMs: number) => void): Promise<number> {
    let made: number | null = null
    let blockedMs = 0
    const write = () => {
      const from = performance.now()
      const earlier = this.#log.sequenceOf(commit.id)
      made = earlier === undefined ? this.#write(commit) : null
      blockedMs = performance.now() - from
      return earlier ?? made!
    }
    return this.#tables.write(write, () => {
      // This must not run before the commit is applied. If the disk rejects a commit, a later commit receives
      // its sequence.
      if (made !== null) this.#handed.add(made, commit)
      onApplied?.(blockedMs)
    })
  }

  /**
   * Waits until the write is durable. This is a separate method, because `commit` would keep its commit in
   * memory during the wait.
   */
  async #whenDurable(writing: Promise<number>): Promise<Revision> {
    try {
      const sequence = await writing
      this.#durable.advance(sequence)
      return this.#revision(sequence)
    } catch (error) {
      if (isUnknown(error)) void this.#advanceLater()
      throw error
    }
  }

  /**
   * A commit with an unknown outcome can become durable later. Readers then see this commit, so followers
   * must also receive it.
   */
  async #advanceLater(): Promise<void> {
    if (this.#isAdvancing) return
    this.#isAdvancing = true
    for (let sequence: number | null = null; sequence === null && !this.#durable.isClosed;) {
      await pause(ADVANCE_MS, undefined, { ref: false })
      // This call writes nothing. It resolves when all earlier writes are durable.
      sequence = await this.#tables.write(() => this.#view.sequence()).catch(() => null)
      if (sequence !== null) this.#durable.advance(sequence)
    }
    this.#isAdvancing = false
  }

  /**
   * Returns null if the other thread cannot make the commit, or if the outcome is unknown. This thread then
   * makes the commit. If the other thread had already applied it, its id prevents a second application.
   */
  async #commitElsewhere(largeWrites: LargeWrites, commit: Commit): Promise<number | null> {
    const { directory } = this.#tables
    if (directory === null) return null
    const writing = this.#tables.elsewhere(() => largeWrites.commit(directory, commit, this.#logEntriesMax))
    const over = writing.catch(() => undefined).finally(() => this.#elsewhere.delete(over))
    this.#elsewhere.add(over)
    try {
      const sequence = await writing
      this.#tables.refresh()
      this.#handed.add(sequence, commit)
      this.#durable.advance(sequence)
      return sequence
    } catch (error) {
      if (!(error instanceof ThreadLostError)) throw error
      this.#tables.refresh()
      return null
    }
  }

  async *rows(): AsyncIterable<readonly Row[]> {
    this.#assertOpen()
    for (const batch of this.#view.batches()) {
      yield batch
      // A closed ledger is an error here, because an interrupted load must not be taken for a complete one.
      this.#assertOpen()
    }
  }

  feed(after: Revision): AsyncIterable<LogEntry> {
    this.#assertOpen()
    const [log, durable, epoch, handed] = [this.#log, this.#durable, this.#epoch, this.#handed]
    const source = { log, durable, epoch, handed, head: () => this.#view.sequence() }
    return new LogFeed({ read: logReader(source, after.epoch), durable, after })
  }

  replay(after: Revision): AsyncIterable<LogEntry> {
    this.#assertOpen()
    const [log, durable, epoch] = [this.#log, this.#durable, this.#epoch]
    const source = { log, durable, epoch, head: () => this.#view.sequence(), isReplay: true }
    return new LogFeed({ read: logReader(source, after.epoch), durable, after })
  }

  /**
   * Ends all feeds and rejects further commits. Resolves when no other thread writes to the tables. Writes of
   * this thread complete with the tables, which stay open because the caller owns them.
   */
  async close(): Promise<void> {
    this.#durable.close()
    await Promise.all(this.#elsewhere)
  }

  /**
   * Makes one commit with a new id, and returns the sequence of the commit. Must be called inside
   * `Tables.write`, so that an error changes nothing.
   */
  #write(commit: Commit): number {
    for (const requirement of commit.require) {
      if (!this.#holds(requirement)) throw new ConflictError(requirement.key)
    }
    const entry = this.#entryOf(commit, this.#view.sequence() + 1)
    this.#log.append(entry)
    this.#view.apply(entry)
    return entry.revision.sequence
  }

  #holds(requirement: Requirement): boolean {
    const { key } = requirement
    if ('head' in requirement) return this.#view.sequence() === requirement.head
    if ('version' in requirement) return this.#view.get(key)?.version === requirement.version
    const created = this.#view.createdOf(key)
    return 'absent' in requirement ? created === undefined : created === requirement.created
  }

  #entryOf(commit: Commit, sequence: number): LogEntry {
    const deleted = new Set(commit.delete.map(textOf))
    const written = new Set<string>()
    const put = commit.put.map(({ key, value }, position): Row => {
      const name = textOf(key)
      assert(!written.has(name), 'a commit writes a key twice')
      written.add(name)
      const overwritten = deleted.has(name) ? undefined : this.#view.createdOf(key)
      const created = overwritten ?? sequence * CREATED_PER_COMMIT + position
      return { key, value, version: sequence, created }
    })
    const { id, delete: deletes, changes } = commit
    return { revision: this.#revision(sequence), id, delete: deletes, put, changes }
  }

  #revision(sequence: number): Revision {
    return { epoch: this.#epoch, sequence }
  }

  #assertOpen(): void {
    if (this.#durable.isClosed) throw storeClosed()
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof AuthzError && error.code === 'STORE_UNAVAILABLE'
}

/** Writes the form of the tables and, for new tables, the name of their epoch. */
function noteFormat(tables: Tables, isNew: boolean): Promise<void> {
  const meta = tables.table('meta')
  return tables.write(() => {
    meta.put(encode('format'), encode(FORMAT))
    if (isNew) meta.put(encode('epoch'), encode(crypto.randomUUID()))
  })
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
