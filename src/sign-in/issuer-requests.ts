/**
 * Requests to the issuer. They go only to `https` addresses, or to loopback addresses if the issuer has one.
 * Redirects are rejected. Time and size of each response are limited (administration.md S8).
 */
import { isExposed } from '#model/sign-in/exposed-url.ts'
import { ISSUER_ANSWER_BYTES_MAX, ISSUER_REQUEST_MS_MAX } from '#model/limits.ts'
import { IssuerError } from './issuer-error.ts'

export interface IssuerRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: RequestInit['body']
}

export class IssuerRequests {
  readonly #allowsHttp: boolean
  readonly #elapsedMs: () => number

  constructor(issuer: string, elapsedMs: () => number) {
    this.#allowsHttp = new URL(issuer).protocol === 'http:'
    this.#elapsedMs = elapsedMs
  }

  /** Whether the service sends requests, and people, to this address. */
  isAllowed(address: string): boolean {
    const url = URL.parse(address)
    if (url === null) return false
    return url.protocol === 'https:' || (this.#allowsHttp && url.protocol === 'http:' && !isExposed(url.href))
  }

  /**
   * Sends a request and returns the response, whose body has arrived. Throws `IssuerError` if there is no
   * usable response, including at `deadline`, in milliseconds of the monotonic clock.
   */
  async send(address: string, { method, headers, body }: IssuerRequest, deadline: number): Promise<Response> {
    if (!this.isAllowed(address)) throw new IssuerError('unavailable', 'address of the issuer is not https')
    const withinMs = Math.min(ISSUER_REQUEST_MS_MAX, deadline - this.#elapsedMs())
    if (withinMs <= 0) throw tooSlow()
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), withinMs)
    try {
      const init = { method, headers, redirect: 'manual', signal: abort.signal } as const
      const response = await fetch(address, { ...init, ...(body !== undefined && { body }) })
      const { status } = response
      if (status >= 300 && status < 400) throw new IssuerError('unavailable', 'the issuer redirects')
      if (status >= 500 || status === 429)
        throw new IssuerError('unavailable', `the issuer responds ${status}`)
      const bytes = await shortBody(response)
      const hasBody = status !== 204 && status !== 205
      return new Response(hasBody ? bytes : null, { status, headers: response.headers })
    } catch (error) {
      if (error instanceof IssuerError) throw error
      if (abort.signal.aborted) throw tooSlow()
      throw new IssuerError('unavailable', 'the issuer cannot be reached')
    } finally {
      clearTimeout(timer)
      // Without this, the rest of a response that is not read would keep its connection.
      abort.abort()
    }
  }
}

function tooSlow(): IssuerError {
  return new IssuerError('unavailable', 'the issuer is too slow')
}

async function shortBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of response.body ?? []) {
    length += piece.length
    if (length > ISSUER_ANSWER_BYTES_MAX) {
      throw new IssuerError('unavailable', 'a response of the issuer is too large')
    }
    pieces.push(piece)
  }
  return new Uint8Array(Buffer.concat(pieces))
}
