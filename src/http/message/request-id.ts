/**
 * ID of a request in responses and logs. If the client sends `X-Request-ID`, its value is used as the HTTP
 * library delivers it. The library removes spaces and bytes outside ASCII at both ends of the value
 * (docs/http-behavior.md). Otherwise a new ID is created.
 *
 * Empty and unprintable IDs are never rejected; a new ID replaces them (native.md 0.1; D-43). Requests that
 * the HTTP library rejects do not reach this code, so their responses have no ID. `dispatch.ts` checks
 * whether a required header is missing (`STRICT_HEADERS`).
 *
 * A new ID is a UUID of version 4. Its last 8 bits are a counter, and the rest is random. Such an ID is
 * unique and cheap enough for every decision. A client can guess the next ID, which is acceptable because
 * request IDs are not secret.
 */
import { randomUUID } from 'node:crypto'
import { KEPT_REQUEST_ID_LENGTH_MAX } from '#model/limits.ts'
import { isPrintableAscii } from './header-text.ts'

/** Length of a UUID without its last two hexadecimal digits. */
const RANDOM_LENGTH = 34
/** Number of IDs in a block. They differ only in their last two digits. */
const BLOCK_IDS = 256
const DIGITS = '0123456789abcdef'

/**
 * Truncates an ID for logs. The log entry of each check in a bulk contains the ID, so an ID as long as a
 * whole head would fill the log.
 */
export function loggedId(requestId: string): string {
  return requestId.length > KEPT_REQUEST_ID_LENGTH_MAX
    ? requestId.slice(0, KEPT_REQUEST_ID_LENGTH_MAX)
    : requestId
}

/** A block of IDs that differ only in their last two digits. */
class IdBlock {
  // An `ArrayBuffer` and not a view: for a view, the HTTP library must also look up the buffer and the
  // offset.
  readonly #prefixed: ArrayBuffer
  readonly #bytes: Uint8Array
  readonly #random: string

  constructor(prefix: string) {
    const uuid = randomUUID()
    const text = prefix + uuid
    this.#prefixed = new ArrayBuffer(text.length)
    const bytes = new Uint8Array(this.#prefixed)
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
    this.#bytes = bytes.subarray(prefix.length)
    this.#random = uuid.slice(0, RANDOM_LENGTH)
  }

  text(count: number): string {
    return this.#random + DIGITS[count >> 4]! + DIGITS[count & 15]!
  }

  bytes(count: number): Uint8Array {
    this.#writeDigits(count)
    return this.#bytes
  }

  prefixed(count: number): ArrayBuffer {
    this.#writeDigits(count)
    return this.#prefixed
  }

  #writeDigits(count: number): void {
    const bytes = this.#bytes
    const end = bytes.length
    bytes[end - 2] = DIGITS.charCodeAt(count >> 4)
    bytes[end - 1] = DIGITS.charCodeAt(count & 15)
  }
}

/** Generates the IDs of one server, in blocks. */
export class RequestIds {
  readonly #prefix: string
  block: IdBlock
  count = 0

  /** `prefix`: ASCII text that usually precedes the ID in a response and is written together with it. */
  constructor(prefix: string) {
    this.#prefix = prefix
    this.block = new IdBlock(prefix)
  }

  next(): void {
    this.count++
    if (this.count < BLOCK_IDS) return
    this.block = new IdBlock(this.#prefix)
    this.count = 0
  }
}

/**
 * ID of the current request of an exchange. A generated ID is converted to a string only when it is read,
 * which most requests do not do.
 */
export class RequestId {
  readonly #ids: RequestIds
  /** ID that the client sent. Null if the client sent none, or one that cannot be returned in a header. */
  #sent: string | null = null
  #block: IdBlock
  #count = 0

  constructor(ids: RequestIds) {
    this.#ids = ids
    this.#block = ids.block
  }

  /** Prepares the object for another request. `sent`: ID that the client sent. */
  begin(sent: string | undefined): void {
    // An empty value is not an ID. An unprintable value must not be returned, because it is not valid in a
    // header.
    this.#sent = sent === undefined || sent === '' || !isPrintableAscii(sent) ? null : sent
    if (this.#sent === null) this.#make()
  }

  get text(): string {
    return this.#sent ?? this.#block.text(this.#count)
  }

  /**
   * The ID in the form in which it is written to a response. The bytes are valid until another ID is written.
   */
  get written(): string | Uint8Array {
    return this.#sent ?? this.#block.bytes(this.#count)
  }

  /**
   * The ID with the prefix of its server. Null if the client sent the ID. The bytes are valid until another
   * ID is written.
   */
  get prefixed(): ArrayBuffer | null {
    return this.#sent === null ? this.#block.prefixed(this.#count) : null
  }

  #make(): void {
    const ids = this.#ids
    this.#block = ids.block
    this.#count = ids.count
    ids.next()
  }
}
