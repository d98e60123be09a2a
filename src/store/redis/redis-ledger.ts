/**
 * The ledger of one environment in Redis: thin, since the script that commits is the one that decides.
 *
 * A commit whose answer is lost is sent again under its id until it is known what became of it. The feed reads the stream
 * from where its reader stands; what is published only says that there may be more.
 */
import { AuthzError, historyReplaced } from '#model/errors.ts'
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import type { Revision } from '#model/revision.ts'
import type { Commit, Entry, Ledger, Row } from '../ledger.ts'
import { DurableMark, LogFeed } from '../log-feed.ts'
import { CommitCall } from './commit-call.ts'
import type { RedisKeys } from './redis-keys.ts'
import { type RedisLink, type Reply, Script, UnansweredError } from './redis-link.ts'
import { type Position, RedisLog } from './redis-log.ts'
import { decodeStoredRow } from './stored-row.ts'

/** The version of everything the keys hold. Raised when the stored form of anything changes. */
const FORMAT = '1'
const OPEN = new Script(new URL('./open.lua', import.meta.url))
/** Rows asked for in one step of a scan: about a millisecond of the server's time. */
const SCAN_ROWS = 1_000
/** How long a commit is sent again, and waited for, before its sender is told that nobody knows. */
export const COMMIT_MS_MAX = 10_000
/** How soon a feed that got no answer asks again, at the latest. */
const READ_AGAIN_MS = 200

export interface RedisLedgerOptions {
  readonly link: RedisLink
  readonly keys: RedisKeys
  readonly logEntriesMax: number
  /** Whether to begin a history where there is none. */
  readonly mayBegin: boolean
}

/** There is no history where there has been one, or where one was to be found. */
export class EmptyStoreError extends AuthzError {
  constructor() {
    super('STORE_RESET', 'the store holds no history any more')
  }
}

export class RedisLedger implements Ledger {
  readonly #link: RedisLink
  readonly #keys: RedisKeys
  readonly #logEntriesMax: number
  readonly #underWay = new Set<Promise<unknown>>()
  /** Whether Redis has said that this is its history, in a form that this release reads. */
  #isConfirmed: boolean
  /** Where the ledger stood when it was opened. */
  readonly start: Position
  /** The newest commit heard of; moved by whoever hears of one. */
  readonly mark: DurableMark

  /**
   * Throws `EmptyStoreError` when there is no history and none may begin, `INVALID_INPUT` when another release wrote it, and
   * what the link throws.
   */
  static async open(options: RedisLedgerOptions): Promise<RedisLedger> {
    return new RedisLedger(options, await lookedUp(options), true)
  }

  /**
   * The ledger that was open when a local copy stood there, without asking Redis: it is asked before anything else is, and
   * whoever reads or commits then meets what `open` throws, or `STORE_RESET` where another history has taken its place.
   */
  static resume(options: Omit<RedisLedgerOptions, 'mayBegin'>, position: Position): RedisLedger {
    return new RedisLedger({ ...options, mayBegin: false }, position, false)
  }

  private constructor(options: RedisLedgerOptions, start: Position, isConfirmed: boolean) {
    const { link, keys, logEntriesMax } = options
    this.#isConfirmed = isConfirmed
    this.#link = link
    this.#keys = keys
    this.#logEntriesMax = logEntriesMax
    this.start = start
    this.mark = new DurableMark(start.sequence)
  }

  get epoch(): string {
    return this.start.epoch
  }

  async head(): Promise<Revision> {
    const { epoch, sequence } = await this.position()
    return { epoch, sequence }
  }

  /** The head and the commit there, as Redis has them. Throws `STORE_RESET` when the history is another one by now. */
  async position(): Promise<Position> {
    this.#assertOpen()
    await this.#confirm()
    const reply = await this.#link.send('HMGET', this.#keys.meta, 'epoch', 'sequence', 'id')
    const [epoch, sequence, id] = reply as readonly (Buffer | null)[]
    if (epoch?.toString('latin1') !== this.epoch) throw historyReplaced()
    return positionOf(epoch, sequence, id)
  }

  commit(commit: Commit): Promise<Revision> {
    return this.commitOn(null, commit)
  }

  /**
   * A commit that was made on a view at that position: also a history that was rewound behind it is noticed then, and the
   * commit refused with `STORE_RESET`.
   */
  async commitOn(ground: Position | null, commit: Commit): Promise<Revision> {
    this.#assertOpen()
    const rows = commit.put.length + commit.delete.length
    if (rows > COMMIT_ROWS_MAX) {
      const message = `a commit writes at most ${COMMIT_ROWS_MAX} rows, not ${rows}: cut it into several`
      throw new AuthzError('LIMIT_EXCEEDED', message)
    }
    const done = this.#commit(commit, ground)
    const settled = done.catch(() => undefined)
    this.#underWay.add(settled)
    void settled.then(() => this.#underWay.delete(settled))
    return done
  }

  async *rows(): AsyncIterable<readonly Row[]> {
    const scan = (cursor: string): Promise<Reply> => {
      this.#assertOpen()
      const reply = this.#link.send('HSCAN', this.#keys.rows, cursor, 'COUNT', SCAN_ROWS)
      // It is waited for below, if the consumer goes on so far.
      reply.catch(() => undefined)
      return reply
    }
    let asked: Promise<Reply> | null = scan('0')
    while (asked) {
      const [cursor, found] = (await asked) as readonly [Buffer, readonly Buffer[]]
      const next = cursor.toString('latin1')
      // The server looks for the next ones while these are being taken.
      asked = next === '0' ? null : scan(next)
      const batch: Row[] = []
      for (let at = 0; at < found.length; at += 2) batch.push(decodeStoredRow(found[at]!, found[at + 1]!))
      if (batch.length > 0) yield batch
      // Not a normal end: a load that was cut short must not pass for a complete one.
      this.#assertOpen()
    }
  }

  /** Number of rows, for who wants to tell how far a load has come. */
  async rowCount(): Promise<number> {
    return (await this.#link.send('HLEN', this.#keys.rows)) as number
  }

  /** With the id of the commit at `after`, also a history that was changed up to there is noticed: `STORE_RESET`. */
  feed(after: Position): AsyncIterable<Entry> {
    this.#assertOpen()
    const log = new RedisLog(this.#link, this.#keys, after)
    const read = async (): Promise<readonly Entry[]> => {
      try {
        await this.#confirm()
        return await log.read()
      } catch (error) {
        // The end of the connection is not the end of the feed. Nobody else may notice it, nor that the server says "not now":
        // the client of a cluster stays ready when it loses one server.
        if (!(error instanceof UnansweredError)) throw error
        await this.#link.recovered(READ_AGAIN_MS)
        this.mark.nudge()
        return []
      }
    }
    return new LogFeed({ read, durable: this.mark, after })
  }

  /** Ends all feeds and refuses what comes; resolves when the commits under way are done. The link stays open. */
  async close(reason: AuthzError | null = null): Promise<void> {
    this.mark.close(reason)
    await Promise.all(this.#underWay)
  }

  async #commit(commit: Commit, ground: Position | null): Promise<Revision> {
    const call = new CommitCall(commit, {
      epoch: this.epoch,
      keys: this.#keys,
      logEntriesMax: this.#logEntriesMax,
      ground,
    })
    const knownAtFirst = this.mark.sequence
    const until = performance.now() + COMMIT_MS_MAX
    let wasSent = false
    for (;;) {
      try {
        await this.#confirm()
        const outcome = await call.make(this.#link, wasSent ? knownAtFirst : null)
        if (outcome.kind === 'committed') {
          this.mark.advance(outcome.sequence)
          return { epoch: this.epoch, sequence: outcome.sequence }
        }
        if (outcome.kind === 'conflict') {
          this.mark.advance(outcome.headSequence)
          throw outcome.error
        }
      } catch (error) {
        const isOver = this.mark.isClosed || this.#link.isGivenUp || performance.now() >= until
        if (!(error instanceof UnansweredError) || isOver) throw error
        wasSent ||= error.wasSent
        await this.#link.recovered(until - performance.now())
      }
    }
  }

  async #confirm(): Promise<void> {
    if (this.#isConfirmed) return
    const { epoch } = await lookedUp({ link: this.#link, keys: this.#keys, mayBegin: false })
    if (epoch !== this.epoch) throw historyReplaced()
    this.#isConfirmed = true
  }

  #assertOpen(): void {
    if (this.mark.isClosed) throw new AuthzError('STORE_CLOSED', 'the store is closed')
  }
}

/** Where the ledger stands; begins it where it may. Throws what `RedisLedger.open` says. */
async function lookedUp({
  link,
  keys,
  mayBegin,
}: Pick<RedisLedgerOptions, 'link' | 'keys' | 'mayBegin'>): Promise<Position> {
  const candidate = mayBegin ? crypto.randomUUID() : ''
  const reply = (await link.run(OPEN, [keys.meta], [FORMAT, candidate])) as readonly Reply[]
  if (reply[0] === 0) throw new EmptyStoreError()
  if (reply[0] === -1) {
    const message = `the store has format ${String(reply[1])}, this release reads format ${FORMAT}: start the release that wrote it`
    throw new AuthzError('INVALID_INPUT', message)
  }
  const [, epoch, sequence, id] = reply
  return positionOf(epoch, sequence, id)
}

function positionOf(epoch: Reply | undefined, sequence: Reply | undefined, id: Reply | undefined): Position {
  const named = Buffer.isBuffer(id) && id.length > 0 ? { id: new Uint8Array(id) } : {}
  return { epoch: String(epoch), sequence: Number(sequence), ...named }
}
