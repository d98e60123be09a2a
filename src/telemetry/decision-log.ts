/**
 * The decision log of one thread. It contains one JSON line for each decision, or for each decision in a
 * sample. A buffer of limited size holds the lines until an asynchronous writer has written them. Lines that
 * do not fit are dropped and counted. A decision therefore never waits for a disk or for a program that reads
 * standard output.
 *
 * Several threads append to the same file. Each write consists of whole lines and is appended atomically, so
 * lines of different threads never mix. On a pipe, only writes of up to 4,096 bytes are atomic. Therefore no
 * write is larger, unless it is a single long line.
 */
import { destination } from 'pino'
import type { ThreadCounters } from './thread-counters.ts'

/** Fields of a query that are logged; see `Query`. */
interface LoggedQuery {
  readonly user: string
  readonly action: string
  readonly type: string
  readonly key: string | null
  readonly tenant: string | null
}

/** The queries of a request. Texts that are still bytes are decoded one by one; see `Question`. */
interface LoggedQuestion {
  query(index: number): LoggedQuery
}

/** A plan; see `PlanOutcome`. */
interface LoggedPlan {
  readonly kind: string
  readonly ids: number
  readonly question: Omit<LoggedQuery, 'key'>
}

/** Client of a question. Its members are read only if a decision is logged. */
interface LoggedClient {
  readonly requestId: string
  /** Actor that the client claims; absent or null if it claims none. */
  readonly actor?: object | null
}

/** Parts of a line that are equal in all lines about a question. */
interface LineOrigin {
  readonly ids: { readonly request_id: string; readonly environment_id: string }
  readonly actor: object | null
  readonly end: string
}

/**
 * Maximum length of a logged name, in characters. Valid names of users, resources and tenants are shorter.
 */
const NAME_LENGTH_MAX = 512
const BUFFERED_BYTES_MAX = 4 * 1_024 * 1_024
const WRITTEN_AT_ONCE_BYTES = 4_096
/** Interval in milliseconds at which buffered lines are written, even if there are only a few lines. */
const FLUSH_EVERY_MS = 1_000
/** Maximum time in milliseconds for which the shutdown of a thread waits for buffered lines. */
const CLOSE_MS_MAX = 1_000

export interface DecisionLogOptions {
  /** Path of the file to which lines are appended, or `stdout`. */
  readonly destination: string
  /** Share of the decisions that are logged: greater than 0, at most 1. */
  readonly share: number
  /**
   * Returns a new random number for each decision. A decision is logged if its number is less than `share`.
   */
  readonly random: () => number
  /** Returns the time for a line, in milliseconds since 1970. */
  readonly now: () => number
  /** Returns a request ID as it is logged. */
  readonly shownId: (id: string) => string
  /** Returns an actor as the lines after the first one of a request contain it. */
  readonly shortActor: (actor: object) => object
  /** Returns an actor as JSON. */
  readonly actorText: (actor: object) => string
  readonly counters: ThreadCounters | null
  /**
   * Called if the file cannot be opened or written. Lines are dropped until a write succeeds. Until then,
   * this function is not called again.
   */
  readonly onFault: (error: unknown) => void
}

export class DecisionLog {
  readonly #options: DecisionLogOptions
  readonly #output: ReturnType<typeof destination>
  readonly #timer: NodeJS.Timeout
  #dropped = 0
  #isFaulty = false

  constructor(options: DecisionLogOptions) {
    this.#options = options
    this.#output = destination({
      dest: options.destination === 'stdout' ? 1 : options.destination,
      sync: false,
      append: true,
      // Mode of a new file. If the file exists, it keeps the permissions that the operator has set.
      mode: 0o600,
      minLength: WRITTEN_AT_ONCE_BYTES - 1,
      maxWrite: WRITTEN_AT_ONCE_BYTES,
      maxLength: BUFFERED_BYTES_MAX,
    } as Parameters<typeof destination>[0])
    this.#output.on('drop', () => (this.#dropped += 1))
    this.#output.on('write', () => (this.#isFaulty = false))
    this.#output.on('error', (error: unknown) => this.#fault(error))
    this.#timer = setInterval(() => this.#output.flush(), FLUSH_EVERY_MS).unref()
  }

  /** Logs the decisions on a question. O(decisions). */
  decided(verdicts: Uint8Array, asked: LoggedQuestion, environmentId: string, client: LoggedClient): void {
    let origin: LineOrigin | null = null
    for (let index = 0; index < verdicts.length; index++) {
      if (!this.#isDrawn()) continue
      const isFirst = origin === null
      origin ??= this.#originOf(client, environmentId)
      this.#record(verdicts[index] === 1, origin, asked.query(index))
      if (isFirst) origin = this.#shortened(origin)
    }
  }

  /** Logs a plan, without attributes and without its filter. */
  planned({ kind, ids, question }: LoggedPlan, environmentId: string, client: LoggedClient): void {
    if (!this.#isDrawn()) return
    const { ids: origin, end } = this.#originOf(client, environmentId)
    const line = {
      time: new Date(this.#options.now()).toISOString(),
      ...origin,
      user: cut(question.user),
      action: cut(question.action),
      resource_type: cut(question.type),
      tenant: question.tenant === null ? null : cut(question.tenant),
      plan: kind,
      ids,
    }
    this.#write(line, end)
  }

  #shortened(origin: LineOrigin): LineOrigin {
    const { ids, actor } = origin
    const short = actor && this.#options.shortActor(actor)
    return short === actor ? origin : { ids, actor: short, end: this.#endWith(short) }
  }

  #originOf({ requestId, actor = null }: LoggedClient, environmentId: string): LineOrigin {
    const ids = { request_id: this.#options.shownId(requestId), environment_id: environmentId }
    return { ids, actor, end: this.#endWith(actor) }
  }

  /** The end of the lines of a request, with its actor. */
  #endWith(actor: object | null): string {
    return actor === null ? '}\n' : `,"actor":${this.#options.actorText(actor)}}\n`
  }

  #isDrawn(): boolean {
    const { share, random } = this.#options
    return share >= 1 || random() < share
  }

  #record(isAllowed: boolean, { ids, end }: LineOrigin, asked: LoggedQuery): void {
    // The subject is not a user (see `packed-queries.ts`), so no decision was made for this query.
    if (asked.type === '') return
    const { now } = this.#options
    const line = {
      time: new Date(now()).toISOString(),
      ...ids,
      user: cut(asked.user),
      action: cut(asked.action),
      resource_type: cut(asked.type),
      resource_key: asked.key === null ? null : cut(asked.key),
      tenant: asked.tenant === null ? null : cut(asked.tenant),
      allow: isAllowed,
    }
    this.#write(line, end)
  }

  /** `end` replaces the closing brace of the record. */
  #write(record: object, end: string): void {
    const isDropped = this.#isDropped(JSON.stringify(record).slice(0, -1) + end)
    this.#options.counters?.add('decisionLogRecords', 1, isDropped ? 'dropped' : 'written')
  }

  /** Writes the buffered lines. Waits at most `CLOSE_MS_MAX`. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    const patience = Promise.withResolvers<void>()
    const timer = setTimeout(patience.resolve, CLOSE_MS_MAX)
    this.#output.once('finish', patience.resolve)
    this.#output.once('close', patience.resolve)
    this.#output.once('error', () => patience.resolve())
    this.#output.end()
    await patience.promise
    clearTimeout(timer)
  }

  /** Passes a line to the writer. Returns whether the line was dropped. */
  #isDropped(line: string): boolean {
    const before = this.#dropped
    try {
      this.#output.write(line)
    } catch (error) {
      // The file could not be opened, so the line is dropped.
      this.#fault(error)
      return true
    }
    return this.#dropped > before
  }

  #fault(error: unknown): void {
    if (!this.#isFaulty) this.#options.onFault(error)
    this.#isFaulty = true
  }
}

/**
 * Truncates a long name. A batch can have a long name as the default for all its queries, and each of their
 * lines would contain this name.
 */
function cut(name: string): string {
  return name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name
}
