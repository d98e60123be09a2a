/**
 * The ledger of one environment in Redis. It is thin, since the script that commits also decides.
 *
 * A commit whose answer is lost is sent again under its id until its outcome is known. The feed reads the stream from the
 * position of its reader; a published message only says that there may be more.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { AuthzError, historyReplaced } from '#model/errors.ts'
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import type { Revision } from '#model/revision.ts'
import { DurableMark, LogFeed } from '#store/embedded/log-feed.ts'
import type { Commit, Entry, Ledger, Row } from '#store/ledger.ts'
import { notWritten } from '#store/not-written-error.ts'
import { storeClosed } from '#store/store-closed-error.ts'
import { CommitCall, UnstagedError } from './commit-call.ts'
import { type RedisKeys, redisKeys } from './redis-keys.ts'
import { isReply, type RedisLink, type Reply, UnansweredError } from './redis-link.ts'
import { type Position, RedisLog } from './redis-log.ts'
import { pauseMs } from './retry-pause.ts'
import type { RowTally } from './row-tally.ts'
import { OPEN, VERIFY } from './scripts.ts'
import { StandingFailure } from './standing-failure.ts'
import { DamagedStoreError } from './damaged-store-error.ts'
import { SILENT, type StoreLog } from '#store/store-log.ts'
import { decodeStoredRow } from './stored-row.ts'

/** The version of everything that the keys hold. Raised when an earlier release could no longer read what this one writes. */
const FORMAT = '1'
/** Rows asked for in one step of a scan: about a millisecond of the server's time. */
const SCAN_ROWS = 1_000
/** How long a commit is sent again, and waited for, before its sender is told that its outcome is unknown. */
export const COMMIT_MS_MAX = 10_000
/** A feed that got no answer asks again after this time at the latest. */
const READ_AGAIN_MS = 200
/** A feed that is refused again and again asks after this time. */
const READ_AGAIN_MS_MAX = 2_000

export interface RedisLedgerOptions {
  readonly link: RedisLink
  readonly keys: RedisKeys
  readonly logEntriesMax: number
  /** Whether to begin a history where there is none. */
  readonly mayBegin: boolean
  /** Where refusals of reads and commits are logged; absent: nowhere. */
  readonly log?: StoreLog
  /** Fields of those log lines. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** The position of the ledger, and the account that is kept of its rows. */
export interface Standing {
  readonly position: Position
  readonly rowCount: number
  /** In the form in which the scripts write it; null while no account is kept. */
  readonly account: { readonly sum: string; readonly since: string } | null
  /** Whether the account is of all rows, and not only of the changes since it was begun. */
  readonly isOfAllRows: boolean
}

/** There is no history where one was, or where one should be. */
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
  /** Whether Redis has confirmed that this is its history, in a form that this release reads. */
  #isConfirmed: boolean
  readonly #closing = new AbortController()
  readonly #log: StoreLog
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #reading: StandingFailure
  readonly #writing: StandingFailure
  #wasRead = false
  /** The position at which the ledger was opened. */
  readonly start: Position
  /** The newest commit known. Whoever hears of a newer one moves it. */
  readonly mark: DurableMark

  /**
   * Throws `EmptyStoreError` when there is no history and none may begin, `INVALID_INPUT` when another release wrote it,
   * `DamagedStoreError` when part of it is lost, and what the link throws.
   */
  static async open(options: RedisLedgerOptions): Promise<RedisLedger> {
    const { position } = await look(options, options.mayBegin ? crypto.randomUUID() : '')
    return new RedisLedger(options, position, true)
  }

  /**
   * Opens the ledger at the position of a local copy, without asking Redis. The first read or commit asks Redis whether
   * this is its history, and throws what `open` throws, or `STORE_RESET` where another history has taken its place.
   */
  static resume(options: Omit<RedisLedgerOptions, 'mayBegin'>, position: Position): RedisLedger {
    return new RedisLedger({ ...options, mayBegin: false }, position, false)
  }

  /**
   * Whether Redis has a history of any of these environments, whole or damaged. Begins none. Throws what the link throws.
   * O(environments), one after the other.
   */
  static async isAnyThere(
    link: RedisLink,
    prefix: string,
    environmentIds: readonly string[],
  ): Promise<boolean> {
    for (const id of environmentIds) {
      try {
        await look({ link, keys: redisKeys(prefix, id) }, '')
        return true
      } catch (error) {
        if (error instanceof DamagedStoreError) return true
        if (!(error instanceof EmptyStoreError)) throw error
      }
    }
    return false
  }

  private constructor(options: RedisLedgerOptions, start: Position, isConfirmed: boolean) {
    const { link, keys, logEntriesMax, log = SILENT, fields = {} } = options
    this.#isConfirmed = isConfirmed
    this.#link = link
    this.#keys = keys
    this.#logEntriesMax = logEntriesMax
    this.#log = log
    this.#fields = fields
    this.#reading = new StandingFailure({
      log,
      fields,
      failing: 'Redis refuses to show what is new: asking again',
      over: 'Redis shows again what is new',
    })
    this.#writing = new StandingFailure({
      log,
      fields,
      failing: 'Redis does not take commits just now: trying again',
      over: 'Redis takes commits again',
    })
    this.start = start
    this.mark = new DurableMark(start.sequence)
  }

  get epoch(): string {
    return this.start.epoch
  }

  /** Whether a feed has been able to read on from its position. */
  get wasRead(): boolean {
    return this.#wasRead
  }

  async head(): Promise<Revision> {
    const { epoch, sequence } = await this.position()
    return { epoch, sequence }
  }

  /** The newest sequence and its commit id, as Redis has them. Throws as `standing`. */
  async position(): Promise<Position> {
    return (await this.standing()).position
  }

  /**
   * The position of Redis, after its keys have been brought level. Throws `STORE_RESET` when the history is another one by
   * now, `DamagedStoreError`, and what the link throws. O(1) for Redis.
   */
  async standing(): Promise<Standing> {
    this.#assertOpen()
    return this.#standing()
  }

  /**
   * Throws `DamagedStoreError` when the rows that were read are not those that commits have left at that position. The
   * ledger is then marked as damaged, for every node.
   */
  async verify({ rowCount, account, position }: Standing, rows: RowTally): Promise<void> {
    if (account === null) return
    const isCounted = rows.count === rowCount
    await this.#verify(position.epoch, account.since, account.sum, rows.sum, isCounted ? '1' : '0')
  }

  /** Marks the ledger, for every node, as one with rows that cannot be read. Throws `DamagedStoreError`. */
  async refuseUnreadable(): Promise<never> {
    await this.#verify(this.epoch, '', '', '', 'unreadable')
    // The rows were of a history that is gone.
    throw historyReplaced()
  }

  async #verify(...args: readonly (string | number)[]): Promise<void> {
    const { meta, rows, log, ids } = this.#keys
    const [code] = (await this.#link.run(VERIFY, [meta, rows, log, ids], args)) as readonly number[]
    if (code !== 1) throw new DamagedStoreError('rows')
  }

  commit(commit: Commit): Promise<Revision> {
    return this.commitOn(null, commit)
  }

  /**
   * A commit that was made on a view at the position `ground`. A history that was rewound before that position is noticed,
   * too: the commit is refused with `STORE_RESET`.
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

  /** Throws `DamagedStoreError` for a row that cannot be read. The ledger is then marked as damaged, for every node. */
  async *rows(): AsyncIterable<readonly Row[]> {
    const scan = (cursor: string): Promise<Reply> => {
      this.#assertOpen()
      const reply = this.#link.send('HSCAN', this.#keys.rows, cursor, 'COUNT', SCAN_ROWS)
      // The reply is awaited below, if the consumer goes on that far.
      reply.catch(() => undefined)
      return reply
    }
    let asked: Promise<Reply> | null = scan('0')
    while (asked) {
      const [cursor, found] = (await asked) as readonly [Buffer, readonly Buffer[]]
      const next = cursor.toString('latin1')
      // The server looks for the next rows while these are being taken.
      asked = next === '0' ? null : scan(next)
      const batch: Row[] = []
      for (let at = 0; at < found.length; at += 2) {
        const row = decodeStoredRow(found[at]!, found[at + 1]!)
        if (row === null) return this.refuseUnreadable()
        batch.push(row)
      }
      if (batch.length > 0) yield batch
      // A closed ledger is an error here: a load that was cut short must not pass for a complete one.
      this.#assertOpen()
    }
  }

  /** The id of the commit at `after` shows also a history that was changed before that position: `STORE_RESET`. */
  feed(after: Position): LogFeed {
    return this.#follow(after, { isReplay: false })
  }

  #follow(after: Position, { isReplay }: { readonly isReplay: boolean }): LogFeed {
    this.#assertOpen()
    const log = new RedisLog(this.#link, this.#keys, after, { isReplay })
    let refusals = 0
    const read = async (): Promise<readonly Entry[]> => {
      try {
        const entries = await this.#readOn(log)
        this.#reading.noteSuccess()
        this.#wasRead = true
        refusals = 0
        return entries
      } catch (error) {
        // The end of the connection is not the end of the feed. Nobody else may notice that end, nor a server that says
        // "not now": the client of a cluster stays ready when it loses one server. What is refused may be granted again,
        // and what is lost restored.
        if (error instanceof UnansweredError) await this.#link.recovered(READ_AGAIN_MS, refusals)
        else if (isRefusal(error) || error instanceof DamagedStoreError)
          await this.#pause(pauseMs(refusals, READ_AGAIN_MS, READ_AGAIN_MS_MAX))
        else throw error
        if (saysWhy(error)) this.#reading.noteFailure(error)
        refusals += 1
        this.mark.nudge()
        return []
      }
    }
    return new LogFeed({ read, durable: this.mark, after })
  }

  replay(after: Position): AsyncIterable<Entry> {
    return this.#follow(after, { isReplay: true })
  }

  /** Ends all feeds and refuses further commits. Resolves when the commits under way are done. The link stays open. */
  async close(reason: AuthzError | null = null): Promise<void> {
    this.mark.close(reason)
    this.#closing.abort()
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
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.#confirm()
        const outcome = await call.make(this.#link, wasSent ? knownAtFirst : null)
        this.#writing.noteSuccess()
        if (outcome.kind === 'committed') {
          this.#noteLost(outcome.lostKey)
          this.mark.advance(outcome.sequence)
          return { epoch: this.epoch, sequence: outcome.sequence }
        }
        this.mark.advance(outcome.headSequence)
        throw outcome.error
      } catch (error) {
        if (saysWhy(error) || error instanceof UnstagedError) this.#writing.noteFailure(error)
        const isOver = this.mark.isClosed || this.#link.isGivenUp || performance.now() >= until
        const isMadeAgain = error instanceof UnansweredError || error instanceof UnstagedError
        if (!isMadeAgain || isOver) throw asCommitFailure(error, wasSent)
        wasSent ||= error instanceof UnansweredError && error.wasSent
        await this.#link.recovered(until - performance.now(), attempt)
      }
    }
  }

  async #standing(): Promise<Standing> {
    const standing = await look({ link: this.#link, keys: this.#keys }, '').catch((error: unknown) => {
      throw error instanceof EmptyStoreError ? historyReplaced() : error
    })
    if (standing.position.epoch !== this.epoch) throw historyReplaced()
    this.#isConfirmed = true
    return standing
  }

  async #confirm(): Promise<void> {
    if (!this.#isConfirmed) await this.#standing()
  }

  /**
   * A log that does not go on from there may be part of what was lost: then the damage counts and not the end of the feed.
   */
  async #readOn(log: RedisLog): Promise<readonly Entry[]> {
    await this.#confirm()
    try {
      return await log.read()
    } catch (error) {
      const isEnd = error instanceof AuthzError && /^(STORE_RESET|REVISION_TOO_OLD)$/.test(error.code)
      if (!isEnd) throw error
    }
    await this.#standing()
    // What was lost may have come back between the two reads.
    return log.read()
  }

  /** Logs a lost key. Ids and log begin anew with that commit; rows are whole. */
  #noteLost(key: string | null): void {
    if (key === null) return
    const fields = { ...this.#fields, key }
    this.#log.warn(
      fields,
      'Redis has lost a key: no fact is lost, and nodes that were behind load everything',
    )
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined)
  }

  #assertOpen(): void {
    if (this.mark.isClosed) throw storeClosed()
  }
}

function positionOf(epoch: Reply | undefined, sequence: Reply | undefined, id: Reply | undefined): Position {
  const named = Buffer.isBuffer(id) && id.length > 0 ? { id: new Uint8Array(id) } : {}
  return { epoch: String(epoch), sequence: Number(sequence), ...named }
}

/** The position of the ledger. `candidate` is the epoch of the history to begin where there is none; empty: none is begun. */
async function look(
  { link, keys }: Pick<RedisLedgerOptions, 'link' | 'keys'>,
  candidate: string,
): Promise<Standing> {
  const { meta, rows, log, ids, removed } = keys
  const reply = (await link.run(
    OPEN,
    [meta, rows, log, ids, removed],
    [FORMAT, candidate],
  )) as readonly Reply[]
  if (reply[0] === 0) throw new EmptyStoreError()
  if (reply[0] === -1) {
    const message = `the store has format ${String(reply[1])}, this release reads format ${FORMAT}: start the release that wrote it`
    throw new AuthzError('INVALID_INPUT', message)
  }
  if (reply[0] === -4) throw new DamagedStoreError(String(reply[1]))
  const [, epoch, sequence, id, rowCount, sum, since, base] = reply
  return {
    position: positionOf(epoch, sequence, id),
    rowCount: Number(rowCount),
    account: String(since) === '' ? null : { sum: String(sum), since: String(since) },
    isOfAllRows: String(base) !== '',
  }
}

/** Whether Redis has answered with a refusal. */
function isRefusal(error: unknown): error is AuthzError {
  return error instanceof AuthzError && error.code === 'STORE_REFUSED'
}

/** Without an answer it is the connection that fails, which is logged elsewhere. */
function saysWhy(error: unknown): boolean {
  return error instanceof AuthzError && isReply(error.cause)
}

/** What Redis lacks, by its message. The message itself may name keys and users, so it is not shown. */
const MENDABLE: readonly (readonly [RegExp, string])[] = [
  [/^OOM /, 'Redis has no memory left for it (maxmemory)'],
  [/^MISCONF /, 'Redis cannot save what it has to its disk (stop-writes-on-bgsave-error)'],
  [/^NOREPLICAS /, 'Redis has too few replicas for it (min-replicas-to-write)'],
  [
    /^NOPERM |^ERR The user executing the script can't run /,
    'Redis does not let the user of this service write',
  ],
]

function mendableReason(error: unknown): string | null {
  if (!(error instanceof AuthzError) || !isReply(error.cause)) return null
  const { message } = error.cause
  return MENDABLE.find(([pattern]) => pattern.test(message))?.[1] ?? null
}

/**
 * The error for the sender of the commit, which tells whether the commit may have been made. An error of the script means
 * that this call has made nothing. A call before it that got no answer may have.
 */
function asCommitFailure(error: unknown, wasSent: boolean): unknown {
  if (error instanceof UnansweredError && (wasSent || error.wasSent)) return error
  const reason = wasSent ? null : mendableReason(error)
  if (reason !== null) return notWritten(reason, (error as AuthzError).cause)
  if (error instanceof UnansweredError) {
    const said = isReply(error.cause) ? `refuses: ${error.cause.message}` : 'cannot be reached'
    return new AuthzError('STORE_REFUSED', `nothing was made: the store ${said}`, { cause: error.cause })
  }
  const isUnknown = wasSent && (isRefusal(error) || error instanceof DamagedStoreError)
  if (!isUnknown) return error
  return new AuthzError(
    'STORE_UNAVAILABLE',
    `it is not known whether this commit was done: ${error.message}`,
    {
      cause: error.cause,
    },
  )
}
