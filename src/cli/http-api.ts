/** The service over HTTP. Whatever keeps an answer from coming, as a whole, is an `ApiError`. */
import { text } from 'node:stream/consumers'
import { type Api, type ApiAnswer, ApiError, bodyOf, messageOf, warningOf } from './api.ts'

export class HttpApi implements Api {
  readonly address: string
  readonly #key: string | null

  constructor(address: string, key: string | null) {
    this.address = address.replace(/\/+$/, '')
    this.#key = key
  }

  async send(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const json = body === undefined ? null : JSON.stringify(body)
    return this.#whole(await this.#fetch(method, path, json, 'application/json'))
  }

  /** Sends a body that is not kept in memory. */
  async upload(path: string, body: AsyncIterable<Uint8Array>, contentType: string): Promise<ApiAnswer> {
    return this.#whole(await this.#fetch('POST', path, body, contentType))
  }

  /** The body of a successful answer in pieces, for an answer that is not kept in memory. */
  async *download(path: string): AsyncIterable<Uint8Array> {
    const response = await this.#fetch('GET', path, null, '')
    if (response.status === 200) yield* this.#pieces(response)
    else throw new ApiError(messageOf(await this.#whole(response)))
  }

  async #whole(response: Response): Promise<ApiAnswer> {
    const body = bodyOf(await text(this.#pieces(response)))
    return { status: response.status, body, warning: warningOf(response.headers.get('warning')) }
  }

  /** Throws `ApiError` when there is no answer. */
  async #fetch(
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
      throw new ApiError(`${this.address} cannot be reached: ${reasonOf(error)}`)
    }
  }

  /** Throws `ApiError` when the body ends before its announced end. */
  async *#pieces({ body }: Response): AsyncIterable<Uint8Array> {
    try {
      yield* body ?? []
    } catch (error) {
      throw new ApiError(`the answer of ${this.address} broke off: ${reasonOf(error)}`)
    }
  }
}

/** The reason behind "fetch failed". */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error)
}
