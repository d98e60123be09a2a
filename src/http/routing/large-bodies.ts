/**
 * Passes large bodies to another thread, because parsing takes at least 10 ms per mebibyte, and 100 ms if a
 * client chooses an unfavorable form. If a body can be read directly from its bytes, which is fast, this
 * thread reads it (`BYTES_HERE_MAX`).
 */
import type { BodyOutcome, BodyReader, SharedBody } from '#decisions/body-reading.ts'
import type { AskingClient, RequestClient } from '#model/caller.ts'
import { RawBytes, type Reply, type RequestNames } from '#http/message/request-reply.ts'
import type { Principal } from '#model/principal.ts'
import type { LargeAnswers } from './large-answers.ts'
import type { Route } from './route.ts'

/**
 * Maximum size in bytes of a body that this thread reads directly from its bytes. A body with 10,000 typical
 * checks has half this size and takes a millisecond.
 */
export const BYTES_HERE_MAX = 2 * 1_024 * 1_024
/**
 * Maximum number of members and elements in queries that match no template, if this thread reads the body.
 * Each takes about 30 ns. If a body has more of them, another thread reads the whole body.
 */
export const UNLIKE_PARTS_MAX = 32_768

/** A large body that has arrived completely. It owns its memory until it is released. */
export interface WholeBody extends SharedBody {
  /**
   * The body for readers in this thread. Valid until the body is released. Throws the error of the memory
   * allocation if it fails.
   */
  readonly view: DataView
  /**
   * The body for readers in another thread. Valid until the body is released. Throws `OVERLOADED` if there is
   * no memory for it.
   */
  readonly segments: readonly SharedArrayBuffer[]
  /** Releases the memory of the body. Repeated calls have no effect. */
  release(): void
}

/** An admitted request with its body. */
export interface LargeRequest {
  readonly route: Route
  readonly principal: Principal | null
  readonly caller: RequestClient & RequestNames & AskingClient
  readonly contentEncoding: string | undefined
  readonly body: WholeBody
  /**
   * Checks the key of the request again and returns the present principal. Throws the error for the client if
   * the key is no longer valid.
   */
  readonly identify: () => Principal | null
}

export class LargeBodies {
  readonly #reader: BodyReader
  readonly #answers: LargeAnswers

  /** `answers` sends the largest responses in pieces. */
  constructor(reader: BodyReader, answers: LargeAnswers) {
    this.#reader = reader
    this.#answers = answers
  }

  /**
   * Whether another thread can answer requests of this route. It can if the route makes decisions and all
   * checks are in the body.
   */
  takes({ family, access, body, paramNames, query }: Route): boolean {
    const isDecision = (family === 'native' || family === 'access') && access === 'environment'
    return isDecision && body !== null && paramNames.length === 0 && query === null
  }

  /**
   * Reads, validates and answers the request on another thread. Resolves to null if no thread could be
   * started; the calling thread must then read the body. Rejects with the same errors as the calling thread
   * would throw, and with `OVERLOADED` if too many requests wait.
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

  /**
   * Like `answer`, but only reads and validates the request. Resolves to false if no thread could be started.
   */
  async check(request: LargeRequest): Promise<boolean> {
    return (await this.#read(request, true)) !== null
  }

  #read(request: LargeRequest, isOnlyChecked: boolean): Promise<BodyOutcome | null> {
    const { route, caller, principal, contentEncoding, body, identify } = request
    const { operationId } = route
    return this.#reader.read({
      operationId,
      principal,
      contentEncoding,
      client: caller,
      body,
      waiting: caller,
      identify,
      isOnlyChecked,
    })
  }
}
