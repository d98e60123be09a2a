/**
 * Cross-origin requests from browsers (CORS) according to `CORS_ORIGINS`
 * (https://fetch.spec.whatwg.org/#http-cors-protocol). Clients authenticate with bearer tokens and never with
 * cookies, so no response allows credentials. If `CORS_ORIGINS` is not set, this class is not used.
 */
import type { HeaderList } from '#http/message/header-list.ts'
import type { Reply } from '#http/message/request-reply.ts'
import type { Wire } from './wire.ts'

/** Value that allows every origin. */
const EVERY = '*'
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
/**
 * Response headers that pages of other origins can read, in addition to the headers that browsers always
 * expose.
 */
const EXPOSED = 'X-Request-ID, X-Revision, Retry-After, Warning, ETag'
/** Time in seconds for which a browser can cache the result of a preflight. */
const REMEMBERED_SECONDS = '600'

export class CrossOrigin {
  readonly #origins: ReadonlySet<string>
  readonly #isEvery: boolean

  /** `origins`: either `*`, or a list of origins in the form that browsers send. */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins)
    this.#isEvery = this.#origins.has(EVERY)
  }

  /** Writes the headers that tell the browser whether the requesting page can read the response. */
  write(wire: Wire, headers: HeaderList): void {
    // Without `Vary`, a cache could return the response to a page of another origin.
    if (!this.#isEvery) wire.writeHeader('Vary', 'Origin')
    const allowed = this.#allowed(headers)
    if (allowed === null) return
    wire.writeHeader('Access-Control-Allow-Origin', allowed)
    wire.writeHeader('Access-Control-Expose-Headers', EXPOSED)
  }

  /** Whether the request is a CORS preflight. */
  isPreflight(method: string, headers: HeaderList): boolean {
    return method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method')
  }

  /** The response to a preflight, without the headers that `write` adds to every response. */
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

  /**
   * Value of `Access-Control-Allow-Origin`. Null if the origin is not allowed or the request has no `Origin`
   * header.
   */
  #allowed(headers: HeaderList): string | null {
    const origin = headers.get('origin')
    if (origin === undefined) return null
    if (this.#isEvery) return EVERY
    return this.#origins.has(origin) ? origin : null
  }
}
