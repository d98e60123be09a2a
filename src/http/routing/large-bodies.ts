/**
 * Bodies that are read on another thread: parsing a mebibyte takes 10 ms at best, and 100 ms in a shape that a caller may choose. A
 * body that can be read from its bytes is short work and read in this thread all the same (`BYTES_HERE_MAX`).
 */
import type { BodyOutcome, BodyReader, SharedBody } from '#decisions/body-reading.ts'
import type { Caller } from '#decisions/decision-pool.ts'
import { loggedId } from '#http/message/request-id.ts'
import { RawBytes, type Reply, type RequestNames } from '#http/message/request-reply.ts'
import type { Principal } from '#model/principal.ts'
import type { LargeAnswers } from './large-answers.ts'
import type { Route } from './route.ts'

/** The longest body that this thread reads from its bytes: 10,000 usual checks have half of it, and take a millisecond. */
export const BYTES_HERE_MAX = 2 * 1_024 * 1_024
/**
 * Members and elements of unusual questions that are read in this thread, at some 30 ns each. A body with more of them is
 * read elsewhere, from its beginning.
 */
export const UNLIKE_PARTS_MAX = 32_768

/** A large body that came whole, in memory of its own. */
export interface WholeBody extends SharedBody {
  /** The body for a reader in this thread, until it is released. Throws what making memory for it throws. */
  readonly view: DataView
  /** The body for a reader in another thread, until it is released. Throws `OVERLOADED` when there is no room for it. */
  readonly segments: readonly SharedArrayBuffer[]
  /** The body is not read any more: its memory is free for the next one. Safe to repeat. */
  release(): void
}

/** An admitted request, with its body. */
export interface LargeRequest {
  readonly route: Route
  readonly principal: Principal | null
  readonly caller: Caller & RequestNames
  readonly contentEncoding: string | undefined
  readonly body: WholeBody
  /** Throws the refusal if the key is not valid any more. */
  readonly identify: () => void
}

export class LargeBodies {
  readonly #reader: BodyReader
  readonly #answers: LargeAnswers

  /** `answers` holds the longest answers until they are out. */
  constructor(reader: BodyReader, answers: LargeAnswers) {
    this.#reader = reader
    this.#answers = answers
  }

  /** Whether another thread answers requests of the route: those of decisions whose question is all in the body. */
  takes({ family, access, body, paramNames, query }: Route): boolean {
    const isDecision = (family === 'native' || family === 'access') && access === 'environment'
    return isDecision && body !== null && paramNames.length === 0 && query === null
  }

  /**
   * Reads, checks and answers. Null: no thread could be started, and the body is to be read here. Rejects with what reading
   * it here would throw, and with `OVERLOADED` when too many wait already.
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

  /** Only reads and checks. Rejects as `answer`. False: no thread could be started. */
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
