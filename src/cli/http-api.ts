/** The service over HTTP. */
import { type Api, type ApiAnswer, ApiError, bodyOf } from './api.ts'

/** No answer came at all. */
const UNREACHABLE = 0

export class HttpApi implements Api {
  readonly address: string
  readonly #key: string | null

  constructor(address: string, key: string | null) {
    this.address = address.replace(/\/+$/, '')
    this.#key = key
  }

  async send(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const text = body === undefined ? null : JSON.stringify(body)
    const response = await this.fetch(method, path, text, 'application/json')
    return { status: response.status, body: bodyOf(await response.text()) }
  }

  /** The answer as it comes, for bodies that are not kept in memory. Throws `ApiError` when there is none. */
  async fetch(
    method: string,
    path: string,
    body: string | AsyncIterable<Uint8Array> | null,
    contentType: string,
  ): Promise<Response> {
    try {
      return await fetch(`${this.address}${path}`, {
        method,
        headers: {
          ...(this.#key !== null && { authorization: `Bearer ${this.#key}` }),
          ...(body !== null && { 'content-type': contentType }),
        },
        ...(body !== null && { body, duplex: 'half' }),
      })
    } catch (error) {
      throw new ApiError(UNREACHABLE, `${this.address} cannot be reached: ${reasonOf(error)}`)
    }
  }
}

/** What lies below "fetch failed". */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error)
}
