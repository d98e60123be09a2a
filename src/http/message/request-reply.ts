/**
 * A request and its response as plain values, which routes use. Only `server.ts` depends on the HTTP library.
 * These values can be used after the request is over, and tests can create them.
 */
import type { AskingClient, RequestClient } from '#model/caller.ts'
import type { Claim } from '#model/wire/organization/actor.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import type { Principal } from '#model/principal.ts'
import type { HeaderList } from './header-list.ts'

export interface HttpRequest {
  /** Method in upper case. */
  readonly method: string
  /** Path as sent, not decoded, without the query. */
  readonly path: string
  /** Query as sent, not decoded, without the question mark. */
  readonly query: string
  /** Headers by lower-case name. If a header is repeated, the first value counts. */
  readonly headers: HeaderList
  /** Complete body; empty if there is none. */
  readonly body: Uint8Array
}

/**
 * Identifiers of a request. Most of them are generated when they are read, so read them only in order to send
 * or log them.
 */
export interface RequestNames {
  /** ID in responses and logs. */
  readonly requestId: string
  /**
   * Value of `traceparent` to send with work that another component does for the request. Null if the request
   * is not traced.
   */
  readonly traceparent: string | null
}

/** Input of the handler of a route. All parts are decoded and validated with the schemas of the route. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly principal: Principal | null
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /**
   * Request headers. If the route sets `ignoresHeaders`, only headers with a field in `HeaderList` are
   * available.
   */
  readonly headers: ReadonlyMap<string, string>
  /**
   * IDs of the request. The object is valid until the response is sent, so copy the values that are needed
   * later.
   */
  readonly names: RequestNames
  /**
   * Actor that the client claims. Null if it claims none, or if the route does not read claims
   * (`readsClaim`).
   */
  readonly claim: Claim | null
  /** The client that waits for the response. */
  readonly caller: RequestClient & AskingClient
}

/**
 * JSON text that is sent unchanged. It was created by another component, for example by the thread that owns
 * the data.
 */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Bytes that are sent unchanged. The reply must state their content type in its headers. */
export class RawBytes {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** JSON in memory that is lent for a single response. */
export class LentJson {
  readonly bytes: Uint8Array
  readonly #giveBack: (bytes: Uint8Array) => void

  constructor(bytes: Uint8Array, giveBack: (bytes: Uint8Array) => void) {
    this.bytes = bytes
    this.#giveBack = giveBack
  }

  /**
   * Returns the memory to its owner. Must be called at most once. If it is not called, the garbage collector
   * frees the memory.
   */
  giveBack(): void {
    this.#giveBack(this.bytes)
  }
}

/**
 * Bytes that are generated while they are sent, at the speed at which the client reads them. The reply must
 * state their content type in its headers.
 */
export class RawPieces {
  readonly source: PieceSource

  private constructor(source: PieceSource) {
    this.source = source
  }

  /**
   * Obtains the first piece before the head is written. If this fails, the client gets an ordinary error
   * response. Later errors cannot change the response, because its head has been sent. In that case the
   * connection ends before the last chunk, and the client notices that the response is incomplete.
   */
  static async begun(source: PieceSource): Promise<RawPieces> {
    let first: Promise<Uint8Array | null> | null = source.next()
    await first
    const next = (): Promise<Uint8Array | null> => {
      const piece = first ?? source.next()
      first = null
      return piece
    }
    return new RawPieces({ next, cancel: () => source.cancel() })
  }
}

export interface Reply {
  readonly status: number
  /**
   * Value that is sent as JSON. If it is `undefined`, the response has no body. Objects of `RawJson`,
   * `RawBytes`, `LentJson`, `RawPieces` and `LiveBytes` are sent without conversion.
   */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Values of `Set-Cookie`, one header each. Only for a reply with `headers`. */
  readonly cookies?: readonly string[]
}

/**
 * Format of an error response. It depends on the path (native.md 0.19, filter.md P51). `opa` is the format of
 * the second port, which serves clients of the Open Policy Agent.
 */
export type ErrorFamily = 'native' | 'plan' | 'access' | 'management' | 'opa'
