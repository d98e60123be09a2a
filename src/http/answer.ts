/**
 * An answer ready to be written: the last plain value before the socket. Encoding happens here, before the first
 * byte is sent, so that a reply that cannot be encoded can still become a proper error.
 */
import { jsonText } from '#model/json-text.ts'
import { LentJson, RawBytes, RawJson, RawPieces, type Reply } from './exchange.ts'
import { isPrintableAscii } from './header-text.ts'

export interface Answer {
  readonly status: number
  readonly contentType: string
  /** `null`: no body and no content type. */
  readonly body: string | Uint8Array | LentJson | RawPieces | null
  readonly headers: Readonly<Record<string, string>> | undefined
}

export const JSON_TYPE = 'application/json'

/** A reply that is given again and again: it is bytes when it is made, and not for each who gets it. */
export class StandingReply implements Reply {
  readonly status: number
  readonly body: unknown
  readonly answer: Answer

  constructor(status: number, body: unknown) {
    this.status = status
    this.body = body
    this.answer = encodeReply({ status, body: new RawBytes(Buffer.from(jsonText(body))) })
  }
}

/**
 * A route's reply as text or bytes. It is JSON, unless the reply's headers name another `content-type`.
 * Throws when it cannot be told: a value JSON has no form for, a header that would not be one header.
 */
export function encodeReply(reply: Reply): Answer {
  if (reply instanceof StandingReply) return reply.answer
  const { status, body, headers } = reply
  const encoded = encodeBody(body)
  if (headers === undefined) return { status, contentType: JSON_TYPE, body: encoded, headers }
  const { 'content-type': contentType = JSON_TYPE, ...others } = headers
  checkHeaders(headers)
  return { status, contentType, body: encoded, headers: others }
}

function encodeBody(body: unknown): Answer['body'] {
  if (body === undefined) return null
  if (body instanceof RawJson) return body.text
  if (body instanceof RawPieces || body instanceof LentJson) return body
  return body instanceof RawBytes ? body.bytes : jsonText(body)
}

/** Header values may hold what a caller once sent; one with a line end would begin a header of the caller's own. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!isPrintableAscii(value)) throw new Error(`the reply header ${name} is not printable ASCII`)
  }
}

/** Nobody hears the answer: what is kept for the rest of it may go. */
export function giveUp({ body }: Answer | Reply): void {
  if (body instanceof RawPieces) body.source.cancel()
}
