/**
 * The name a request goes by in answers and logs: the caller's `X-Request-ID`, exactly as sent, or a new one.
 *
 * Absent, empty and unprintable ids are replaced, never refused (contract section 0, row 1; D-43). The one request
 * that never gets here is one the HTTP library refuses by itself: its answer carries no id. Whether the header
 * is *required* (`STRICT_HEADERS`) is a rule about admission and belongs into `dispatch.ts`.
 *
 * A new id is a UUID of version 4, random except that its last 8 bits count: unique, and cheap enough for the path of
 * every decision (a quarter of `randomUUID`). The next one can be guessed; a request id is no secret.
 */
import { randomUUID } from 'node:crypto'
import { isPrintableAscii } from './header-text.ts'

/** All of a UUID but its last two hexadecimal digits. */
const RANDOM_LENGTH = 34
const COUNT_MAX = 0xff
/** Two hexadecimal digits for every byte; formatting numbers would cost more than all the rest. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export class RequestIds {
  #random = ''
  #count = COUNT_MAX

  /** The request id every answer to this request carries. */
  of(headers: ReadonlyMap<string, string>): string {
    const sent = headers.get('x-request-id')
    // Without a value nothing was named; a value that could not stand in a header must not be echoed into one.
    if (sent === undefined || sent === '' || !isPrintableAscii(sent)) return this.#next()
    return sent
  }

  #next(): string {
    if (this.#count === COUNT_MAX) {
      this.#random = randomUUID().slice(0, RANDOM_LENGTH)
      this.#count = -1
    }
    return this.#random + HEX[++this.#count]!
  }
}
