/**
 * Reads large bodies on another thread: parsing a mebibyte takes 10 ms at best, and 100 ms in a form that
 * clients can choose. If a body can be read directly from its bytes, which is fast, this thread reads it
 * (`BYTES_HERE_MAX`).
 */
import type { BodyOutcome, BodyReader, SharedBody } from '#decisions/body-reading.ts'
import type { RequestClient } from '#decisions/decision-pool.ts'
import { loggedId } from '#http/message/request-id.ts'
import { RawBytes, type Reply, type RequestNames } from '#http/message/request-reply.ts'
import type { Principal } from '#model/principal.ts'
import type { LargeAnswers } from './large-answers.ts'
import type { Route } from './route.ts'

/**
 * Maximum size of a body that this thread reads directly from its bytes. A body with 10,000 typical checks
 * has half this size and takes a millisecond.
 */
export const BYTES_HERE_MAX = 2 * 1_024 * 1_024
/**
 * Maximum number of members and elements in unusual queries that this thread reads, at about 30 ns each. If a
 * body has more, another thread reads it from its beginning.
 */
export const UNLIKE_PARTS_MAX = 32_768

/** A large body that has arrived completely, in memory that it owns. */
export interface WholeBody extends SharedBody {
  /** The body for readers in this thread, until it is released. Throws errors of the memory allocation. */
  readonly view: DataView
  /**
   * The body for readers in another thread, until it is released. Throws `OVERLOADED` if there is no memory
   * for it.
   */
  readonly segments: readonly SharedArrayBuffer[]
  /** Releases the memory of the body. Safe to repeat. */
  release(): void
}

/** An admitted request with its body. */
export interface LargeRequest {
  readonly route: Route
  readonly principal: Principal | null
  readonly caller: RequestClient & RequestNames
  readonly contentEncoding: string | undefined
  readonly body: WholeBody
  /** Throws the error for the client if the key is no longer valid. */
  readonly identify: () => void
}

export class LargeBodies {
  readonly #reader: BodyReader
  readonly #answers: LargeAnswers

  /** `answers` holds the longest responses until they are sent. */
  constructor(reader: BodyReader, answers: LargeAnswers) {
    this.#reader = reader
    this.#answers = answers
  }

  /**
   * Whether another thread processes requests of the route. These are decisions whose checks are entirely in
   * the body.
   */
  takes({ family, access, body, paramNames, query }: Route): boolean {
    const isDecision = (family === 'native' || family === 'access') && access === 'environment'
    return isDecision && body !== null && paramNames.length === 0 && query === null
  }

  /**
   * Reads, validates and processes the request. Null: no thread could be started, and this thread must read
   * the body. Rejects with the same errors as reading in this thread, and with `OVERLOADED` if too many
   * requests wait.
   */
  async answer(request: LargeRequest): Promise<Reply | null> {
    const outcome = await this.#read(request, false)
    if (outcome === null || outcome.kind === 'checked') return null
    const { status, bytes, isOfParts } = outcome
    if (isOfParts && request.principal?.kind === 'environment') {
      return this.#answers.reply(request.principal.environmentId, [bytes])
    }
    return { status, body: new RawBytes(bytes) }
  }

  /** Only reads and validates. Rejects like `answer`. Returns false if no thread could be started. */
  async check(request: LargeRequest): Promise<boolean> {
    return (await this.#read(request, true)) !== null
  }

  #read(request: LargeRequest, isOnlyChecked: boolean): Promise<BodyOutcome | null> {
    const { route, caller, principal, contentEncoding, body, identify } = request
    const requestId = loggedId(caller.requestId)
    const { operationId } = route
    return this.#reader.read({
      operationId,
      principal,
      contentEncoding,
      requestId,
      body,
      waiting: caller,
      identify,
      isOnlyChecked,
    })
  }
}
