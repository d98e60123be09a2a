/**
 * An answer ready to be written: the last plain value before the socket. Encoding happens here, before the first
 * byte is sent, so that a reply that cannot be encoded can still become a proper error.
 */
import { RawJson, type Reply } from './exchange.ts'
import { isPrintableAscii } from './header-text.ts'

export interface Answer {
  readonly status: number
  readonly contentType: string
  /** `null`: no body and no content type. */
  readonly text: string | null
  readonly headers: Readonly<Record<string, string>> | undefined
}

const JSON_TYPE = 'application/json'

/**
 * A route's reply as text. It is JSON, unless the reply's headers name another `content-type` for `RawJson` text.
 * Throws when it cannot be told: a value JSON has no form for, a header that would not be one header.
 */
export function encodeReply({ status, body, headers }: Reply): Answer {
  const text = body === undefined ? null : body instanceof RawJson ? body.text : JSON.stringify(body)
  if (headers === undefined) return { status, contentType: JSON_TYPE, text, headers }
  const { 'content-type': contentType = JSON_TYPE, ...others } = headers
  checkHeaders(headers)
  return { status, contentType, text, headers: others }
}

/** Header values may hold what a caller once sent; one with a line end would begin a header of the caller's own. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!isPrintableAscii(value)) throw new Error(`the reply header ${name} is not printable ASCII`)
  }
}
