/**
 * The decision log of one thread: a line of JSON for each decision, or for a sample of them. Lines wait in memory, up to a
 * ceiling, for a writer that works beside the decisions; what finds no room is dropped and counted. No decision ever waits
 * for a disk or a reader of standard output.
 *
 * Several threads append to one file. Each write holds whole lines and goes to the end, so lines are never mixed; on a pipe
 * that holds for writes of up to 4,096 bytes, which is why none is larger unless a single line is.
 */
import { destination } from 'pino'
import type { ThreadCounters } from './thread-counters.ts'

/** A question as it was asked; see `Query`. */
interface Asked {
  readonly user: string
  readonly action: string
  readonly type: string
  readonly key: string | null
  readonly tenant: string | null
}

/** Questions that are still bytes, made readable one by one; see `PackedQueries`. */
interface AskedInBytes {
  readonly count: number
  query(index: number): Asked
}

/** Characters of a name that are recorded; no user, resource or tenant has one that is longer. */
const NAME_LENGTH_MAX = 512
const BUFFERED_BYTES_MAX = 4 * 1_024 * 1_024
const WRITTEN_AT_ONCE_BYTES = 4_096
/** Lines are on their way after so long, however few they are. */
const FLUSH_EVERY_MS = 1_000
/** How long the end of a thread waits for what is buffered. */
const CLOSE_MS_MAX = 1_000

export interface DecisionLogOptions {
  /** A file, which is appended to, or `stdout`. */
  readonly destination: string
  /** The part of the decisions that is recorded, above 0 and up to 1. */
  readonly share: number
  /** Below which a decision is recorded if it is less than `share`: drawn anew for each. */
  readonly random: () => number
  /** The time of a record, in milliseconds since 1970. */
  readonly now: () => number
  readonly counters: ThreadCounters | null
  /** The file cannot be opened or written. Goes on dropping; called once until a write succeeds again. */
  readonly onFault: (error: unknown) => void
}

export class DecisionLog {
  readonly #options: DecisionLogOptions
  readonly #output: ReturnType<typeof destination>
  readonly #timer: NodeJS.Timeout
  #requestId = ''
  #dropped = 0
  #isFaulty = false

  constructor(options: DecisionLogOptions) {
    this.#options = options
    this.#output = destination({
      dest: options.destination === 'stdout' ? 1 : options.destination,
      sync: false,
      append: true,
      // A file that exists keeps what the operator has set.
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

  /** Names the request whose decisions come next. */
  readonly begin = (requestId: string): void => {
    this.#requestId = requestId
  }

  /** Of questions in bytes it is the first. */
  decided(isAllowed: boolean, environmentId: string, asked: Asked | AskedInBytes): void {
    if (!this.#isDrawn()) return
    this.#record(isAllowed, this.#requestId, environmentId, 'query' in asked ? asked.query(0) : asked)
  }

  decidedAll(
    decisions: ArrayLike<boolean | number>,
    environmentId: string,
    asked: readonly Asked[] | AskedInBytes,
  ): void {
    this.later()(decisions, environmentId, asked)
  }

  /** The same, of the request that is named now, in whatever turn it is decided. */
  later(): (
    decisions: ArrayLike<boolean | number>,
    environmentId: string,
    asked: readonly Asked[] | AskedInBytes,
  ) => void {
    const requestId = this.#requestId
    return (decisions, environmentId, asked) => {
      for (let index = 0; index < decisions.length; index++) {
        if (!this.#isDrawn()) continue
        const question = 'query' in asked ? asked.query(index) : asked[index]!
        this.#record(Boolean(decisions[index]), requestId, environmentId, question)
      }
    }
  }

  /** Keeps what is to be recorded of questions that are decided later; returns who is to hear of the decisions. */
  asked(
    environmentId: string,
    asked: Asked | readonly Asked[] | AskedInBytes,
  ): (decisions: ArrayLike<boolean | number>) => void {
    const requestId = this.#requestId
    const drawn: { readonly index: number; readonly question: Asked }[] = []
    const questions = 'user' in asked ? [asked] : asked
    const count = 'query' in questions ? questions.count : questions.length
    for (let index = 0; index < count; index++) {
      if (!this.#isDrawn()) continue
      drawn.push({ index, question: 'query' in questions ? questions.query(index) : questions[index]! })
    }
    return decisions => {
      for (const { index, question } of drawn) {
        this.#record(Boolean(decisions[index]), requestId, environmentId, question)
      }
    }
  }

  #isDrawn(): boolean {
    const { share, random } = this.#options
    return share >= 1 || random() < share
  }

  #record(isAllowed: boolean, requestId: string, environmentId: string, asked: Asked): void {
    // Nobody's, as `packed-queries.ts` has it: no decision.
    if (asked.type === '') return
    const { now, counters } = this.#options
    const record = {
      time: new Date(now()).toISOString(),
      request_id: requestId,
      environment_id: environmentId,
      user: cut(asked.user),
      action: cut(asked.action),
      resource_type: cut(asked.type),
      resource_key: asked.key === null ? null : cut(asked.key),
      tenant: asked.tenant === null ? null : cut(asked.tenant),
      allow: isAllowed,
    }
    const isDropped = this.#isDropped(`${JSON.stringify(record)}\n`)
    counters?.add('decisionLogRecords', 1, isDropped ? 'dropped' : 'written')
  }

  /** Writes what is buffered, unless that takes too long. */
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

  /** Hands a line to the writer. True when it found no room. */
  #isDropped(line: string): boolean {
    const before = this.#dropped
    try {
      this.#output.write(line)
    } catch (error) {
      // The file could not be opened.
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

/** A default of a megabyte would be told again for each question of its batch. */
function cut(name: string): string {
  return name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name
}
