/**
 * The name a request goes by in answers and logs: the caller's `X-Request-ID`, exactly as the HTTP library hands it on,
 * or a new one. The library removes bytes outside ASCII at both ends, like spaces (docs/http-behavior.md).
 *
 * Absent, empty and unprintable ids are replaced, never refused (native.md 0.1; D-43). The one request
 * that never gets here is one the HTTP library refuses by itself: its answer carries no id. Whether the header
 * is *required* (`STRICT_HEADERS`) is a rule about admission and belongs into `dispatch.ts`.
 *
 * A new id is a UUID of version 4, random except that its last 8 bits count: unique, and cheap enough for the path of
 * every decision. The next one can be guessed; a request id is no secret.
 */
import { randomUUID } from 'node:crypto'
import { KEPT_REQUEST_ID_LENGTH_MAX } from '#model/limits.ts'
import { isPrintableAscii } from './header-text.ts'

/** The length of a UUID without its last two hexadecimal digits. */
const RANDOM_LENGTH = 34
/** How many ids differ in these two digits only. */
const BLOCK_IDS = 256
const DIGITS = '0123456789abcdef'

/**
 * The id as logs have it. A bulk logs it with each of its checks, so an id as long as a head may be would fill the log by
 * itself.
 */
export function loggedId(requestId: string): string {
  return requestId.length > KEPT_REQUEST_ID_LENGTH_MAX
    ? requestId.slice(0, KEPT_REQUEST_ID_LENGTH_MAX)
    : requestId
}

/** Ids that differ in their last two digits. */
class IdBlock {
  // A buffer and not a view of one, of which the library asks for buffer and offset as well.
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

/** The ids of one server: the next is taken from a block. */
export class RequestIds {
  readonly #prefix: string
  block: IdBlock
  count = 0

  /** `prefix` is the ASCII text that mostly comes before the ids. */
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
 * The id of one request after the other. An id that is made becomes a text only where somebody asks for it, which few
 * requests do.
 */
export class RequestId {
  readonly #ids: RequestIds
  /** The caller's id; null: there is none that can be sent back. */
  #sent: string | null = null
  #block: IdBlock
  #count = 0

  constructor(ids: RequestIds) {
    this.#ids = ids
    this.#block = ids.block
  }

  /** Begins the id of another request. `sent` is the id that its caller sent. */
  begin(sent: string | undefined): void {
    // Without a value nothing was named; a value that could not stand in a header must not be echoed into one.
    this.#sent = sent === undefined || sent === '' || !isPrintableAscii(sent) ? null : sent
    if (this.#sent === null) this.#make()
  }

  get text(): string {
    return this.#sent ?? this.#block.text(this.#count)
  }

  /** In the form in which it is written into an answer. The bytes are valid until another id is. */
  get written(): string | Uint8Array {
    return this.#sent ?? this.#block.bytes(this.#count)
  }

  /**
   * With the prefix of its server, in bytes that are valid until another id is written; null where the caller sent the id.
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
