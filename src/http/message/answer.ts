/**
 * A response that is ready to be written. A reply is encoded before the first byte is sent. If it cannot be
 * encoded, the service can still send an error response.
 */
import { jsonText } from '#model/text/json-text.ts'
import { isPrintableAscii } from './header-text.ts'
import { LiveBytes } from '#management/changes/live-bytes.ts'
import { LentJson, RawBytes, RawJson, RawPieces, type Reply } from './request-reply.ts'

/** At most one of `body`, `pieces` and `live` is set. `lent` is set only with a body. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  /**
   * Complete body. If it is null, the response has no body and no content type, unless `pieces` or `live` is
   * set.
   */
  readonly body: string | Uint8Array | null
  /**
   * The buffer that contains exactly the bytes of `body`, if there is one. The HTTP library handles a buffer
   * faster than a view.
   */
  readonly buffer: ArrayBuffer | null
  /** The reply that owns the memory of `body`, if the memory is lent. */
  readonly lent: LentJson | null
  readonly pieces: RawPieces | null
  readonly live: LiveBytes | null
  readonly headers: Readonly<Record<string, string>> | undefined
}

export const JSON_TYPE = 'application/json'

/** A reply that is sent repeatedly. It is encoded once, when it is created. */
export class PrebuiltReply implements Reply {
  readonly status: number
  readonly body: unknown
  readonly #answer: Answer

  constructor(status: number, body: unknown) {
    this.status = status
    this.body = body
    const text = Buffer.from(jsonText(body))
    const bytes = new Uint8Array(text.length)
    bytes.set(text)
    const { buffer } = bytes
    this.#answer = {
      status,
      contentType: JSON_TYPE,
      body: bytes,
      buffer,
      lent: null,
      pieces: null,
      live: null,
      headers: undefined,
    }
  }

  /**
   * A getter and not a field: a copy that is made by spreading and then modified must not contain the encoded
   * response.
   */
  get prebuilt(): Answer {
    return this.#answer
  }
}

/** The encoded response of a constant reply. `undefined` for a promise and for all other replies. */
export function prebuiltAnswer(reply: Reply | Promise<Reply>): Answer | undefined {
  // Constant replies are recognized by this property. `instanceof` would walk the prototype chain, which is
  // usually not in the CPU caches: three such tests took 0.1 µs per decision according to a profile.
  return (reply as Partial<PrebuiltReply>).prebuilt
}

/**
 * Encodes the reply of a route as text or bytes. The body is encoded as JSON, unless the headers of the reply
 * contain another `content-type`. Throws if the reply cannot be sent, because JSON cannot represent the body
 * or because a header value is not valid. In this case, also cancels the pieces of the reply.
 */
export function encodeReply(reply: Reply): Answer {
  const prebuilt = prebuiltAnswer(reply)
  if (prebuilt !== undefined) return prebuilt
  const { status, body, headers } = reply
  const pieces = body instanceof RawPieces ? body : null
  const live = body instanceof LiveBytes ? body : null
  const lent = body instanceof LentJson ? body : null
  const whole = lent === null ? encodeBody(body) : lent.bytes
  if (headers === undefined)
    return { status, contentType: JSON_TYPE, body: whole, buffer: null, lent, pieces, live, headers }
  const { 'content-type': contentType = JSON_TYPE, ...others } = headers
  let cookies
  try {
    checkHeaders(headers)
    cookies = cookieHeaders(reply)
  } catch (error) {
    cancelPieces({ pieces, live })
    throw error
  }
  const all = cookies === null ? others : { ...others, ...cookies }
  return { status, contentType, body: whole, buffer: null, lent, pieces, live, headers: all }
}

/**
 * The cookies as one entry, because an object has a name only once. The HTTP library writes the line breaks
 * in the value unchanged.
 */
function cookieHeaders({ cookies }: Reply): Readonly<Record<string, string>> | null {
  if (cookies === undefined || cookies.length === 0) return null
  for (const cookie of cookies) checkHeaders({ 'Set-Cookie': cookie })
  return { 'Set-Cookie': cookies.join('\r\nSet-Cookie: ') }
}

function encodeBody(body: unknown): string | Uint8Array | null {
  if (body === undefined || body instanceof RawPieces || body instanceof LiveBytes) return null
  if (body instanceof RawJson) return body.text
  return body instanceof RawBytes ? body.bytes : jsonText(body)
}

/**
 * Throws if a header value is not valid. Header values can contain text from clients, and a value with a line
 * break would start another header (header injection).
 */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!isPrintableAscii(value)) throw new Error(`the response header ${name} is not printable ASCII`)
  }
}

/** Called if the response is not sent. The source of its pieces can then release its resources. */
export function cancelPieces({ pieces, live }: Pick<Answer, 'pieces' | 'live'>): void {
  pieces?.source.cancel()
  live?.cancel()
}
