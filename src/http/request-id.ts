/**
 * The name a request goes by in answers and logs: the caller's `X-Request-ID`, exactly as the HTTP library hands it on, or a new one.
 * The library cuts off bytes at both ends that are not ASCII, as it does blanks (docs/operations.md).
 *
 * Absent, empty and unprintable ids are replaced, never refused (contract section 0, row 1; D-43). The one request
 * that never gets here is one the HTTP library refuses by itself: its answer carries no id. Whether the header
 * is *required* (`STRICT_HEADERS`) is a rule about admission and belongs into `dispatch.ts`.
 *
 * A new id is a UUID of version 4, random except that its last 8 bits count to 32: unique, and cheap enough for the path of
 * every decision (a sixth of `randomUUID`). The next one can be guessed; a request id is no secret.
 */
import { randomUUID } from 'node:crypto'
import { KEPT_REQUEST_ID_LENGTH_MAX } from '#model/limits.ts'
import { isPrintableAscii } from './header-text.ts'

const ID_LENGTH = 36
/** All of a UUID but its last two hexadecimal digits. */
const RANDOM_LENGTH = 34
/** One that is kept keeps all of its text: few enough that this is a kilobyte. */
const AT_ONCE = 32
const DIGITS = '0123456789abcdef'

/** As logs have it. A bulk tells it with each of its checks, so that one as long as a head may be would fill them by itself. */
export function loggedId(requestId: string): string {
  return requestId.length > KEPT_REQUEST_ID_LENGTH_MAX
    ? requestId.slice(0, KEPT_REQUEST_ID_LENGTH_MAX)
    : requestId
}

export class RequestIds {
  /** Ids one behind the other: a piece of a text is made faster than a text of pieces. */
  #ids = ''
  #next = AT_ONCE
  readonly #bytes = Buffer.alloc(AT_ONCE * ID_LENGTH)

  /** The request id every answer to this request carries. */
  of(headers: ReadonlyMap<string, string>): string {
    const sent = headers.get('x-request-id')
    // Without a value nothing was named; a value that could not stand in a header must not be echoed into one.
    if (sent === undefined || sent === '' || !isPrintableAscii(sent)) return this.#made()
    return sent
  }

  #made(): string {
    if (this.#next === AT_ONCE) this.#makeIds()
    const from = this.#next++ * ID_LENGTH
    return this.#ids.slice(from, from + ID_LENGTH)
  }

  #makeIds(): void {
    const bytes = this.#bytes
    bytes.fill(randomUUID(), 'latin1')
    for (let index = 0; index < AT_ONCE; index++) {
      const count = index * ID_LENGTH + RANDOM_LENGTH
      bytes[count] = DIGITS.charCodeAt(index >> 4)
      bytes[count + 1] = DIGITS.charCodeAt(index & 15)
    }
    this.#ids = bytes.toString('latin1')
    this.#next = 0
  }
}
