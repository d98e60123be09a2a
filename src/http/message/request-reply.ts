/**
 * One request and its answer as plain values: what a route sees. Only `server.ts` knows the HTTP library;
 * everything here survives the request, may be kept, and can be made by hand in a test.
 */
import type { Caller } from '#decisions/decision-pool.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import type { Principal } from '#model/principal.ts'
import type { HeaderList } from './header-list.ts'

export interface HttpRequest {
  /** Upper case. */
  readonly method: string
  /** As sent, undecoded, without the query. */
  readonly path: string
  /** As sent, undecoded, without the question mark. */
  readonly query: string
  /** Lower-case name → value; of a repeated header the first. */
  readonly headers: HeaderList
  /** The whole body; empty when there is none. */
  readonly body: Uint8Array
}

/** The names of a request. Ask for them only where they are sent or logged: most are made when they are asked for. */
export interface RequestNames {
  /** The id in answers and logs. */
  readonly requestId: string
  /** The `traceparent` for work on behalf of the request; null: it is not traced. */
  readonly traceparent: string | null
}

/** What a route's handler gets: every part decoded and validated by the route's own schemas. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly principal: Principal | null
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** For a route that ignores headers, only those with a field in `HeaderList`. */
  readonly headers: ReadonlyMap<string, string>
  /** Valid until the call is answered. Copy what is to live longer. */
  readonly names: RequestNames
  /** Who waits for the answer. */
  readonly caller: Caller
}

/** JSON text made elsewhere, e.g. by the thread that holds the data. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Bytes to be sent as they are; the reply's headers say what they are. */
export class RawBytes {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** JSON in memory that is lent for this one answer. */
export class LentJson {
  readonly bytes: Uint8Array
  readonly #giveBack: (bytes: Uint8Array) => void

  constructor(bytes: Uint8Array, giveBack: (bytes: Uint8Array) => void) {
    this.bytes = bytes
    this.#giveBack = giveBack
  }

  /** The bytes are not read any more. Called once, or never: then the garbage collector takes them. */
  giveBack(): void {
    this.#giveBack(this.bytes)
  }
}

/** Bytes that are made while they are sent, as fast as the caller takes them; the reply's headers say what they are. */
export class RawPieces {
  readonly source: PieceSource

  private constructor(source: PieceSource) {
    this.source = source
  }

  /**
   * Begins the answer with its first piece, before the head is written. An error by then is answered like any other. Later
   * the head has said that the answer comes in chunks, so a connection that ends before the last chunk is not taken for a
   * whole answer.
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
  /** Answered as JSON; `undefined` sends no body; `RawJson`, `RawBytes`, `LentJson`, `RawPieces` and `LiveBytes` are sent as they are. */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The form of an error answer, by path (native.md 0.19); `opa` is that of the second listener. */
export type ErrorFamily = 'native' | 'access' | 'management' | 'opa'
