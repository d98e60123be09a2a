/**
 * The ledger of one environment in Redis. It contains little logic, because the Lua script of a commit also
 * checks whether the commit is accepted.
 *
 * A commit whose response is lost is sent again under its id until its outcome is known. The feed reads the
 * stream from the position of its reader; a published message only indicates that there might be more.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { AuthzError, historyReplaced } from '#model/errors.ts'
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import type { Revision } from '#model/revision.ts'
import { DurableMark, LogFeed } from '#store/embedded/log-feed.ts'
import type { Commit, LogEntry, Ledger, Row } from '#store/ledger.ts'
import { notWritten } from '#store/not-written-error.ts'
import { storeClosed } from '#store/store-closed-error.ts'
import { CommitCall, UnstagedError } from './commit-call.ts'
import { type RedisKeys, redisKeys } from '#store/redis/link/redis-keys.ts'
import { isReply, type RedisLink, type RedisReply, UnansweredError } from '#store/redis/link/redis-link.ts'
import { type LogPosition, RedisLog } from './redis-log.ts'
import { backoffMs } from '#store/redis/link/backoff.ts'
import type { RowTally } from './row-tally.ts'
import { OPEN, VERIFY } from '#store/redis/scripts/scripts.ts'
import { OngoingFailure } from '#store/redis/link/ongoing-failure.ts'
import { DamagedStoreError } from '#store/redis/link/damaged-store-error.ts'
import { SILENT, type StoreLog } from '#store/store-log.ts'
import { decodeStoredRow } from './stored-row.ts'

/**
 * Version of the contents of the keys. It must be incremented if earlier releases cannot read the keys that
 * this release writes.
 */
const FORMAT = '1'
/** Number of rows that one step of a scan requests. A step takes about a millisecond of the server's time. */
const SCAN_ROWS = 1_000
/**
 * How long a commit is awaited and sent again. After this time, its sender receives an error that states an
 * unknown outcome.
 */
export const COMMIT_MS_MAX = 10_000
/** Maximum time until a feed without a response tries again. */
const READ_AGAIN_MS = 200
/** Maximum time until a feed that is rejected repeatedly tries again. */
const READ_AGAIN_MS_MAX = 2_000

export interface RedisLedgerOptions {
  readonly link: RedisLink
  readonly keys: RedisKeys
  readonly logEntriesMax: number
  /** Whether to begin an epoch if there is none. */
  readonly mayBegin: boolean
  /** Log for rejections of reads and commits. If absent, rejections are not logged. */
  readonly log?: StoreLog
  /** Fields of the log lines. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** Position of the ledger, and the checksum of its rows. */
export interface LedgerState {
  readonly position: LogPosition
  readonly rowCount: number
  /** Checksum in the form in which the scripts write it; null while no checksum is kept. */
  readonly account: { readonly sum: string; readonly since: string } | null
  /** Whether the checksum covers all rows, and not only the changes since it was begun. */
  readonly isOfAllRows: boolean
}

/** Thrown if Redis has no epoch of an environment that had one or should have one. */
export class EmptyStoreError extends AuthzError {
  constructor() {
    super('STORE_RESET', 'the store no longer contains the environment')
  }
}

export class RedisLedger implements Ledger {
  readonly #link: RedisLink
  readonly #keys: RedisKeys
  readonly #logEntriesMax: number
  readonly #underWay = new Set<Promise<unknown>>()
  /**
   * Whether Redis has confirmed that its current epoch is the epoch of this ledger, in a format that this
   * release reads.
   */
  #isConfirmed: boolean
  readonly #closing = new AbortController()
  readonly #log: StoreLog
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #reading: OngoingFailure
  readonly #writing: OngoingFailure
  #wasRead = false
  /** Position at which the ledger was opened. */
  readonly start: LogPosition
  /** Mark of the newest known commit. Every component that learns of a newer commit advances it. */
  readonly mark: DurableMark

  /**
   * Throws `EmptyStoreError` if there is no epoch and none may begin, `INVALID_INPUT` if another release
   * wrote the epoch in a format that this release does not read, `DamagedStoreError` if a part of it is lost,
   * and the errors of the link.
   */
  static async open(options: RedisLedgerOptions): Promise<RedisLedger> {
    const { position } = await look(options, options.mayBegin ? crypto.randomUUID() : '')
    return new RedisLedger(options, position, true)
  }

  /**
   * Opens the ledger at the position of a local replica, without a request to Redis. The first read or commit
   * checks that Redis still has this epoch. That read or commit throws the errors of `open`, or `STORE_RESET`
   * if another epoch has replaced this one.
   */
  static resume(options: Omit<RedisLedgerOptions, 'mayBegin'>, position: LogPosition): RedisLedger {
    return new RedisLedger({ ...options, mayBegin: false }, position, false)
  }

  /**
   * Whether Redis has an epoch of any of these environments, complete or damaged. Does not begin an epoch.
   * Throws the errors of the link. O(environments), one after the other.
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

  private constructor(options: RedisLedgerOptions, start: LogPosition, isConfirmed: boolean) {
    const { link, keys, logEntriesMax, log = SILENT, fields = {} } = options
    this.#isConfirmed = isConfirmed
    this.#link = link
    this.#keys = keys
    this.#logEntriesMax = logEntriesMax
    this.#log = log
    this.#fields = fields
    this.#reading = new OngoingFailure({
      log,
      fields,
      failing: 'Redis rejects reads of the log: retrying',
      over: 'Redis accepts reads of the log again',
    })
    this.#writing = new OngoingFailure({
      log,
      fields,
      failing: 'Redis does not accept commits at the moment: retrying',
      over: 'Redis accepts commits again',
    })
    this.start = start
    this.mark = new DurableMark(start.sequence)
  }

  get epoch(): string {
    return this.start.epoch
  }

  /** Whether at least one feed could continue from its position. */
  get wasRead(): boolean {
    return this.#wasRead
  }

  async head(): Promise<Revision> {
    const { epoch, sequence } = await this.position()
    return { epoch, sequence }
  }

  /** Returns the newest sequence and its commit id in Redis. Throws like `state`. */
  async position(): Promise<LogPosition> {
    return (await this.state()).position
  }

  /**
   * Returns the position of the ledger in Redis. The script first applies the log to the keys. Throws
   * `STORE_RESET` if the epoch has changed, `DamagedStoreError`, and the errors of the link.
   * O(1) for Redis.
   */
  async state(): Promise<LedgerState> {
    this.#assertOpen()
    return this.#readState()
  }

  /**
   * Throws `DamagedStoreError` if the rows that were read differ from the rows that commits wrote up to this
   * position. In that case, also marks the ledger as damaged, so that every node learns of the damage.
   */
  async verify({ rowCount, account, position }: LedgerState, rows: RowTally): Promise<void> {
    if (account === null) return
    const isCounted = rows.count === rowCount
    await this.#verify(position.epoch, account.since, account.sum, rows.sum, isCounted ? '1' : '0')
  }

  /**
   * Records that the ledger contains unreadable rows, so that every node learns of the damage. Throws
   * `DamagedStoreError`.
   */
  async refuseUnreadable(): Promise<never> {
    await this.#verify(this.epoch, '', '', '', 'unreadable')
    // If no error was thrown, the rows belonged to an epoch that has been replaced.
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
   * Makes a commit that is based on a view at the position `ground`. If the epoch was rewound to a position
   * before `ground`, rejects the commit with `STORE_RESET`.
   */
  async commitOn(ground: LogPosition | null, commit: Commit): Promise<Revision> {
    this.#assertOpen()
    const rows = commit.put.length + commit.delete.length
    if (rows > COMMIT_ROWS_MAX) {
      const message = `a commit writes at most ${COMMIT_ROWS_MAX} rows, got ${rows}: split it into several commits`
      throw new AuthzError('LIMIT_EXCEEDED', message)
    }
    const done = this.#commit(commit, ground)
    const settled = done.catch(() => undefined)
    this.#underWay.add(settled)
    void settled.then(() => this.#underWay.delete(settled))
    return done
  }

  /**
   * Throws `DamagedStoreError` for an unreadable row. In that case, also marks the ledger as damaged, so that
   * every node learns of the damage.
   */
  async *rows(): AsyncIterable<readonly Row[]> {
    const scan = (cursor: string): Promise<RedisReply> => {
      this.#assertOpen()
      const reply = this.#link.send('HSCAN', this.#keys.rows, cursor, 'COUNT', SCAN_ROWS)
      // The response is awaited below, if the consumer continues that far.
      reply.catch(() => undefined)
      return reply
    }
    let asked: Promise<RedisReply> | null = scan('0')
    while (asked) {
      const [cursor, found] = (await asked) as readonly [Buffer, readonly Buffer[]]
      const next = cursor.toString('latin1')
      // The server searches for the next rows while the consumer processes these.
      asked = next === '0' ? null : scan(next)
      const batch: Row[] = []
      for (let at = 0; at < found.length; at += 2) {
        const row = decodeStoredRow(found[at]!, found[at + 1]!)
        if (row === null) return this.refuseUnreadable()
        batch.push(row)
      }
      if (batch.length > 0) yield batch
      // A closed ledger is an error here, because an interrupted load must not be taken for a complete one.
      this.#assertOpen()
    }
  }

  /**
   * Returns the feed of the commits after a position. If the position contains a commit id, the feed also
   * detects that the epoch was rewound to an earlier position, and throws `STORE_RESET`.
   */
  feed(after: LogPosition): LogFeed {
    return this.#follow(after, { isReplay: false })
  }

  #follow(after: LogPosition, { isReplay }: { readonly isReplay: boolean }): LogFeed {
    this.#assertOpen()
    const log = new RedisLog(this.#link, this.#keys, after, { isReplay })
    let refusals = 0
    const read = async (): Promise<readonly LogEntry[]> => {
      try {
        const entries = await this.#readOn(log)
        this.#reading.noteSuccess()
        this.#wasRead = true
        refusals = 0
        return entries
      } catch (error) {
        // A feed continues after its connection has ended. It waits here itself, because no other component
        // might notice the failure: a cluster client stays ready when it loses one server, and a server can
        // reply "not now". The feed also continues after rejections, which can be lifted, and after damage,
        // because lost data can be restored.
        if (error instanceof UnansweredError) await this.#link.recovered(READ_AGAIN_MS, refusals)
        else if (isRefusal(error) || error instanceof DamagedStoreError)
          await this.#pause(backoffMs(refusals, READ_AGAIN_MS, READ_AGAIN_MS_MAX))
        else throw error
        if (saysWhy(error)) this.#reading.noteFailure(error)
        refusals += 1
        this.mark.nudge()
        return []
      }
    }
    return new LogFeed({ read, durable: this.mark, after })
  }

  replay(after: LogPosition): AsyncIterable<LogEntry> {
    return this.#follow(after, { isReplay: true })
  }

  /**
   * Ends all feeds and rejects further commits. Resolves when the commits in progress are done. The link
   * stays open.
   */
  async close(reason: AuthzError | null = null): Promise<void> {
    this.mark.close(reason)
    this.#closing.abort()
    await Promise.all(this.#underWay)
  }

  async #commit(commit: Commit, ground: LogPosition | null): Promise<Revision> {
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

  async #readState(): Promise<LedgerState> {
    const state = await look({ link: this.#link, keys: this.#keys }, '').catch((error: unknown) => {
      throw error instanceof EmptyStoreError ? historyReplaced() : error
    })
    if (state.position.epoch !== this.epoch) throw historyReplaced()
    this.#isConfirmed = true
    return state
  }

  async #confirm(): Promise<void> {
    if (!this.#isConfirmed) await this.#readState()
  }

  /**
   * If the log does not continue from the position of the reader, the reason can be lost data. In that case,
   * throws the damage instead of the error that would end the feed.
   */
  async #readOn(log: RedisLog): Promise<readonly LogEntry[]> {
    await this.#confirm()
    try {
      return await log.read()
    } catch (error) {
      const isEnd = error instanceof AuthzError && /^(STORE_RESET|REVISION_TOO_OLD)$/.test(error.code)
      if (!isEnd) throw error
    }
    await this.#readState()
    // The lost data might have been restored since the first read.
    return log.read()
  }

  /**
   * Logs a lost key, which is `ids` or `log`. Its content begins again with the current commit, and the rows
   * are complete.
   */
  #noteLost(key: string | null): void {
    if (key === null) return
    const fields = { ...this.#fields, key }
    this.#log.warn(fields, 'Redis lost a key: no fact is lost, and nodes that lagged reload everything')
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined)
  }

  #assertOpen(): void {
    if (this.mark.isClosed) throw storeClosed()
  }
}

function positionOf(
  epoch: RedisReply | undefined,
  sequence: RedisReply | undefined,
  id: RedisReply | undefined,
): LogPosition {
  const named = Buffer.isBuffer(id) && id.length > 0 ? { id: new Uint8Array(id) } : {}
  return { epoch: String(epoch), sequence: Number(sequence), ...named }
}

/**
 * Returns the position of the ledger. `candidate` is the name of the epoch to begin if there is none. If it
 * is empty, no epoch begins.
 */
async function look(
  { link, keys }: Pick<RedisLedgerOptions, 'link' | 'keys'>,
  candidate: string,
): Promise<LedgerState> {
  const { meta, rows, log, ids, removed } = keys
  const reply = (await link.run(
    OPEN,
    [meta, rows, log, ids, removed],
    [FORMAT, candidate],
  )) as readonly RedisReply[]
  if (reply[0] === 0) throw new EmptyStoreError()
  if (reply[0] === -1) {
    const message = `the store has format ${String(reply[1])}, but this release reads format ${FORMAT}: start the release that wrote it`
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

/** Whether Redis has responded with a rejection. */
function isRefusal(error: unknown): error is AuthzError {
  return error instanceof AuthzError && error.code === 'STORE_REFUSED'
}

/**
 * Whether the error contains a reply of Redis. Without a reply, the connection failed, which is logged
 * elsewhere.
 */
function saysWhy(error: unknown): boolean {
  return error instanceof AuthzError && isReply(error.cause)
}

/**
 * Failures that the operator can fix: a pattern for the message of Redis, and the reason that is shown. The
 * message itself is not shown, because it can contain keys and user names.
 */
const MENDABLE: readonly (readonly [RegExp, string])[] = [
  [/^OOM /, 'Redis has no memory left (maxmemory)'],
  [/^MISCONF /, 'Redis cannot save its data to disk (stop-writes-on-bgsave-error)'],
  [/^NOREPLICAS /, 'Redis has too few replicas (min-replicas-to-write)'],
  [
    /^NOPERM |^ERR The user executing the script can't run /,
    'Redis does not permit the user of this service to write',
  ],
]

function mendableReason(error: unknown): string | null {
  if (!(error instanceof AuthzError) || !isReply(error.cause)) return null
  const { message } = error.cause
  return MENDABLE.find(([pattern]) => pattern.test(message))?.[1] ?? null
}

/**
 * Returns the error for the sender of the commit. The error states whether the commit might have been made.
 * If the script failed, this call committed nothing, but an earlier call without a response might have.
 */
function asCommitFailure(error: unknown, wasSent: boolean): unknown {
  if (error instanceof UnansweredError && (wasSent || error.wasSent)) return error
  const reason = wasSent ? null : mendableReason(error)
  if (reason !== null) return notWritten(reason, (error as AuthzError).cause)
  if (error instanceof UnansweredError) {
    const state = isReply(error.cause) ? `rejected it: ${error.cause.message}` : 'cannot be reached'
    return new AuthzError('STORE_REFUSED', `nothing was changed: the store ${state}`, { cause: error.cause })
  }
  const isUnknown = wasSent && (isRefusal(error) || error instanceof DamagedStoreError)
  if (!isUnknown) return error
  return new AuthzError(
    'STORE_UNAVAILABLE',
    `it is not known whether this commit was made: ${error.message}`,
    {
      cause: error.cause,
    },
  )
}
