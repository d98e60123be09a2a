/**
 * An answer ready to be written: the last plain value before the socket. Encoding happens here, before the first
 * byte is sent, so that a reply that cannot be encoded can still become a proper error.
 */
import { jsonText } from '#model/json-text.ts'
import { isPrintableAscii } from './header-text.ts'
import { LiveBytes } from '#management/changes/live-bytes.ts'
import { LentJson, RawBytes, RawJson, RawPieces, type Reply } from './request-reply.ts'

/** At most one of `body`, `pieces` and `live`; `lent` only with a body. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  /** What is sent as a whole; `null`: no body and no content type, unless it is in pieces. */
  readonly body: string | Uint8Array | null
  /** The buffer that is all of `body`, where one is known: the library asks less of it than of a view. */
  readonly buffer: ArrayBuffer | null
  /** The owner of the body's memory, if that is lent. */
  readonly lent: LentJson | null
  readonly pieces: RawPieces | null
  readonly live: LiveBytes | null
  readonly headers: Readonly<Record<string, string>> | undefined
}

export const JSON_TYPE = 'application/json'

/** A reply that is given again and again. It is encoded once, when it is made. */
export class StandingReply implements Reply {
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

  /** A getter and no field, so that a copy with other parts does not have it. */
  get standing(): Answer {
    return this.#answer
  }
}

/** The encoded answer of a standing reply; `undefined` for another reply, or a promise. */
export function standingAnswer(reply: Reply | Promise<Reply>): Answer | undefined {
  // Recognized by its property: `instanceof` walks prototypes, which have left the caches since the decision before. Three
  // such questions were 0.1 µs of a decision, by a profile.
  return (reply as Partial<StandingReply>).standing
}

/**
 * A route's reply as text or bytes. It is JSON, unless the reply's headers name another `content-type`.
 * Throws for what cannot be sent: a value that JSON cannot express, a header value that would not be one header. Pieces are cancelled then.
 */
export function encodeReply(reply: Reply): Answer {
  const standing = standingAnswer(reply)
  if (standing !== undefined) return standing
  const { status, body, headers } = reply
  const pieces = body instanceof RawPieces ? body : null
  const live = body instanceof LiveBytes ? body : null
  const lent = body instanceof LentJson ? body : null
  const whole = lent === null ? encodeBody(body) : lent.bytes
  if (headers === undefined)
    return { status, contentType: JSON_TYPE, body: whole, buffer: null, lent, pieces, live, headers }
  const { 'content-type': contentType = JSON_TYPE, ...others } = headers
  try {
    checkHeaders(headers)
  } catch (error) {
    cancelPieces({ pieces, live })
    throw error
  }
  return { status, contentType, body: whole, buffer: null, lent, pieces, live, headers: others }
}

function encodeBody(body: unknown): string | Uint8Array | null {
  if (body === undefined || body instanceof RawPieces || body instanceof LiveBytes) return null
  if (body instanceof RawJson) return body.text
  return body instanceof RawBytes ? body.bytes : jsonText(body)
}

/** Header values may hold what a caller once sent; one with a line end would begin a header of the caller's own. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!isPrintableAscii(value)) throw new Error(`the reply header ${name} is not printable ASCII`)
  }
}

/** The answer is not sent: the source of its pieces may release what it keeps for them. */
export function cancelPieces({ pieces, live }: Pick<Answer, 'pieces' | 'live'>): void {
  pieces?.source.cancel()
  live?.cancel()
}
