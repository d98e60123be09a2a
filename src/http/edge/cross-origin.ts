/**
 * Lets pages of other origins ask, as `CORS_ORIGINS` says (https://fetch.spec.whatwg.org/#http-cors-protocol). Callers are known by their
 * bearer tokens, never by cookies, so no answer allows credentials. Without the setting nothing here is called.
 */
import type { HeaderList } from '#http/message/header-list.ts'
import type { Reply } from '#http/message/request-reply.ts'
import type { Wire } from './wire.ts'

/** What stands for every origin. */
const EVERY = '*'
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
/** Those that pages may read besides the ones that they always may. */
const EXPOSED = 'X-Request-ID, X-Revision, Retry-After, Warning, ETag'
/** How long a browser may remember what it may send, in seconds. */
const REMEMBERED_SECONDS = '600'

export class CrossOrigin {
  readonly #origins: ReadonlySet<string>
  readonly #isEvery: boolean

  /** `origins`: `*`, or origins as browsers write them. */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins)
    this.#isEvery = this.#origins.has(EVERY)
  }

  /** Writes into the head of an answer whether the page that asked may read it. */
  write(wire: Wire, headers: HeaderList): void {
    // What is kept between may be given to a page of another origin.
    if (!this.#isEvery) wire.writeHeader('Vary', 'Origin')
    const allowed = this.#allowed(headers)
    if (allowed === null) return
    wire.writeHeader('Access-Control-Allow-Origin', allowed)
    wire.writeHeader('Access-Control-Expose-Headers', EXPOSED)
  }

  /** Whether the request only asks what a page may send. */
  isPreflight(method: string, headers: HeaderList): boolean {
    return method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method')
  }

  /** The answer to a preflight, besides what `write` writes into every answer. */
  preflight(headers: HeaderList): Reply {
    if (this.#allowed(headers) === null) return { status: 204, body: undefined }
    const asked = headers.get('access-control-request-headers') ?? ''
    const isSent = /^[\w-]+( *, *[\w-]+)*$/.test(asked)
    return {
      status: 204,
      body: undefined,
      headers: {
        'Access-Control-Allow-Methods': METHODS,
        ...(isSent && { 'Access-Control-Allow-Headers': asked }),
        'Access-Control-Max-Age': REMEMBERED_SECONDS,
      },
    }
  }

  /** What to answer to the origin that asks; null: it is not allowed, or no page asks. */
  #allowed(headers: HeaderList): string | null {
    const origin = headers.get('origin')
    if (origin === undefined) return null
    if (this.#isEvery) return EVERY
    return this.#origins.has(origin) ? origin : null
  }
}
