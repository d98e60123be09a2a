/**
 * A request and its response as plain values, as routes see them. Only `server.ts` depends on the HTTP
 * library. The values here outlive the request, and tests can create them.
 */
import type { RequestClient } from '#decisions/decision-pool.ts'
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
 * Identifiers of a request. Read them only to send or log them, because most are generated when they are
 * read.
 */
export interface RequestNames {
  /** ID in responses and logs. */
  readonly requestId: string
  /** `traceparent` for work that is done for the request; null if it is not traced. */
  readonly traceparent: string | null
}

/** Input of a route's handler. All parts are decoded and validated with the schemas of the route. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly principal: Principal | null
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** Request headers. If the route ignores headers, only those with a field in `HeaderList`. */
  readonly headers: ReadonlyMap<string, string>
  /** Valid until the response is sent. Copy values that must live longer. */
  readonly names: RequestNames
  /** The client that waits for the response. */
  readonly caller: RequestClient
}

/** JSON text that was created elsewhere, for example by the thread that owns the data. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Bytes that are sent unchanged. The headers of the reply state their type. */
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
   * Returns the memory to its owner. Called at most once. If it is never called, the garbage collector frees
   * the memory.
   */
  giveBack(): void {
    this.#giveBack(this.bytes)
  }
}

/**
 * Bytes that are generated while they are sent, as fast as the client reads them. The headers of the reply
 * state their type.
 */
export class RawPieces {
  readonly source: PieceSource

  private constructor(source: PieceSource) {
    this.source = source
  }

  /**
   * Obtains the first piece before the head is written, so that an error until then becomes an ordinary error
   * response. After that, the head has announced a chunked body. If the connection ends before the last
   * chunk, the client notices that the response is incomplete.
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
   * Sent as JSON. `undefined` sends no body. `RawJson`, `RawBytes`, `LentJson`, `RawPieces` and `LiveBytes`
   * are sent unchanged.
   */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Format of an error response, which depends on the path (native.md 0.19). `opa` is the format of the second
 * listener.
 */
export type ErrorFamily = 'native' | 'access' | 'management' | 'opa'
