/**
 * HTTP client for the service. If it receives no complete response, it throws an `ApiError` for any reason.
 * The class uses the HTTP client of Node.js instead of `fetch`. `fetch` takes twice as long to load. It also
 * stops waiting after five minutes, and the response to a large import can take longer.
 */
import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type Api, type ApiAnswer, bodyOf, keyRefused, messageOf, warningOf } from './api.ts'
import { ApiError, RefusedError } from './exit-codes.ts'

type RequestBody = string | AsyncIterable<Uint8Array> | null

export class HttpApi implements Api {
  readonly address: string
  readonly #key: string | null
  readonly #headers: Readonly<Record<string, string>>

  /** `headers`: headers of each request. */
  constructor(address: string, key: string | null, headers: Readonly<Record<string, string>> = {}) {
    this.address = address.replace(/\/+$/, '')
    this.#key = key
    this.#headers = headers
  }

  async send(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    return this.sendIf(null, method, path, body)
  }

  /** Sends a request with this `If-Match` header. Null: without the header. */
  async sendIf(tag: string | null, method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const json = body === undefined ? null : JSON.stringify(body)
    return this.#whole(await this.#request(method, path, json, 'application/json', tag))
  }

  /** Sends a body that is read from a source while it is sent. If the source fails, throws its error. */
  async upload(path: string, body: AsyncIterable<Uint8Array>, contentType: string): Promise<ApiAnswer> {
    return this.#whole(await this.#request('POST', path, body, contentType))
  }

  /** Yields the body of a successful response while it is received. */
  async *download(path: string, method: 'GET' | 'POST' = 'GET'): AsyncIterable<Uint8Array> {
    const response = await this.#request(method, path, null, '')
    if (response.statusCode === 200) yield* this.#pieces(response)
    else {
      const answer = await this.#whole(response)
      throw answer.status === 401 ? keyRefused(answer) : new ApiError(messageOf(answer))
    }
  }

  /**
   * Yields the body of a response that has no fixed end. Throws `RefusedError` if the service would also
   * reject the same request later.
   */
  async *stream(path: string): AsyncIterable<Uint8Array> {
    const response = await this.#request('GET', path, null, '')
    if (response.statusCode === 200) {
      yield* this.#pieces(response)
      return
    }
    const answer = await this.#whole(response)
    if (answer.status === 401) throw keyRefused(answer)
    const isForGood = answer.status >= 400 && answer.status < 500 && answer.status !== 429
    throw new (isForGood ? RefusedError : ApiError)(messageOf(answer))
  }

  async #whole(response: IncomingMessage): Promise<ApiAnswer> {
    const body = bodyOf(await text(this.#pieces(response)))
    // If the service responds before it has received the whole body, it does not read the rest. The upload is
    // then stopped.
    const sending = (response as IncomingMessage & { readonly req: ClientRequest }).req
    if (!sending.writableFinished) sending.destroy()
    const { statusCode, headers } = response
    const warning = warningOf(headers['warning'] as string)
    return { status: statusCode!, body, warning, tag: headers.etag ?? null }
  }

  /** Throws `ApiError` if there is no response. */
  async #request(
    method: string,
    path: string,
    body: RequestBody,
    contentType: string,
    tag: string | null = null,
  ): Promise<IncomingMessage> {
    const url = new URL(`${this.address}${path}`)
    const open = url.protocol === 'https:' ? (await import('node:https')).request : overHttp
    const headers = {
      ...this.#headers,
      ...(this.#key !== null && { authorization: `Bearer ${this.#key}` }),
      ...(body !== null && { 'content-type': contentType }),
      ...(tag !== null && { 'if-match': tag }),
      ...(typeof body === 'string' && { 'content-length': Buffer.byteLength(body) }),
    }
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = open(url, { method, headers })
      const fail = (error: unknown) =>
        reject(new ApiError(`${this.address} cannot be reached: ${reasonOf(error, url)}`))
      request.on('response', resolve).on('error', fail)
      if (body === null || typeof body === 'string') request.end(body ?? undefined)
      else pipeline(unspoiled(body, reject), request).catch(fail)
    })
    if (response.statusCode === 401 && this.#key === null) {
      response.destroy()
      throw new ApiError(`${this.address} requires an API key; set VERDICT_KEY, VERDICT_KEY_FILE or --key`)
    }
    const { location } = response.headers
    if (response.statusCode! < 300 || response.statusCode! >= 400 || location === undefined) return response
    response.destroy()
    throw new ApiError(`${this.address} redirects to ${location}; set --url or VERDICT_URL to that address`)
  }

  /** Throws `ApiError` if the body ends prematurely. */
  async *#pieces(response: IncomingMessage): AsyncIterable<Uint8Array> {
    try {
      yield* response as AsyncIterable<Uint8Array>
    } catch (error) {
      throw new ApiError(`the response of ${this.address} ended early: ${(error as Error).message}`)
    }
  }
}

/**
 * Yields the pieces of a source. If the source fails, passes the original error to `onFault` and throws it.
 */
async function* unspoiled(
  pieces: AsyncIterable<Uint8Array>,
  onFault: (error: unknown) => void,
): AsyncIterable<Uint8Array> {
  try {
    yield* pieces
  } catch (error) {
    onFault(error)
    throw error
  }
}

/**
 * Returns the reason of a failed connection, in words that help the user. The messages of the underlying
 * libraries describe internals.
 */
function reasonOf(error: unknown, url: URL): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  const other = url.protocol === 'https:' ? 'http' : 'https'
  switch (code) {
    case 'ECONNREFUSED':
      return 'the connection was refused (ECONNREFUSED); check that the service runs there'
    case 'ENOTFOUND':
      return `there is no host ${url.hostname} (ENOTFOUND); check --url or VERDICT_URL`
    case 'EAI_AGAIN':
      return `the name ${url.hostname} cannot be resolved (EAI_AGAIN): no name server responds`
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `no host responds at this address (${code}); check --url or VERDICT_URL, and firewalls`
    case 'ECONNRESET':
    case 'EPIPE':
      return `the connection ended without a response (${code}); try ${other}://${url.host}`
    case 'EPROTO':
      return `the server does not use TLS correctly; try ${other}://${url.host}`
  }
  if (code.startsWith('HPE_')) return `the server does not use HTTP; try ${other}://${url.host}`
  if (/CERT|SELF_SIGNED|VERIFY/.test(code)) {
    return `its certificate is not trusted (${code}); set NODE_EXTRA_CA_CERTS to a file of trusted authorities`
  }
  return code.startsWith('ERR_SSL') ? `TLS failed (${code})` : message.split('\n', 1)[0] || code
}
