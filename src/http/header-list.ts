/**
 * The headers of one request at a time, in the order they came: a read-only map that is made for being filled once and asked
 * a few times. A request brings about ten; comparing ten short texts is cheaper than hashing all of them into a `Map`,
 * and this stands in the way of every decision. Not for long lists: `get` is O(headers).
 *
 * Names are lower case, as the HTTP library delivers them. Of a repeated header the first counts.
 */
import { MIN_REVISION, REQUEST_ID } from './header-fields.ts'

export class HeaderList implements ReadonlyMap<string, string> {
  /** Name, value, name, value; behind `#length` stands what was left of requests before. */
  readonly #pairs: string[] = []
  #length = 0
  /** Where the values stand of those that every decision asks for, noted while they come; 0 where there is none. */
  #authorizationAt = 0
  #requestIdAt = 0
  #minRevisionAt = 0
  /** And of those that say where the body ends. */
  #contentLengthAt = 0
  #transferEncodingAt = 0
  #isFramingRepeated = false
  #connectionAt = 0

  /** Those that follow are of another request. */
  clear(): void {
    this.#length = 0
    this.#authorizationAt = 0
    this.#requestIdAt = 0
    this.#minRevisionAt = 0
    this.#contentLengthAt = 0
    this.#transferEncodingAt = 0
    this.#isFramingRepeated = false
    this.#connectionAt = 0
  }

  /** Takes the next header of the request. */
  add(name: string, value: string): void {
    const at = this.#length + 1
    this.#pairs[at - 1] = this.#noted(name, at)
    this.#pairs[at] = value
    this.#length = at + 1
  }

  /**
   * The same name. For those that are noted it is a text of ours: to keep one that has just been made is a note for the garbage
   * collector as well.
   */
  #noted(name: string, at: number): string {
    switch (name.length) {
      case AUTHORIZATION.length:
        if (name !== AUTHORIZATION) return name
        this.#authorizationAt ||= at
        return AUTHORIZATION
      case CONNECTION.length:
        if (name !== CONNECTION) return name
        this.#connectionAt ||= at
        return CONNECTION
      case REQUEST_ID_NAME.length:
        if (name !== REQUEST_ID_NAME) return name
        this.#requestIdAt ||= at
        return REQUEST_ID_NAME
      case CONTENT_LENGTH.length:
        if (name === CONTENT_LENGTH) {
          this.#isFramingRepeated ||= this.#contentLengthAt > 0
          this.#contentLengthAt ||= at
          return CONTENT_LENGTH
        }
        if (name !== MIN_REVISION_NAME) return name
        this.#minRevisionAt ||= at
        return MIN_REVISION_NAME
      case TRANSFER_ENCODING.length:
        if (name !== TRANSFER_ENCODING) return name
        this.#isFramingRepeated ||= this.#transferEncodingAt > 0
        this.#transferEncodingAt ||= at
        return TRANSFER_ENCODING
      default:
        return name
    }
  }

  /**
   * What is wrong with what the headers say of where the body ends; null: nothing. The library takes what it cannot
   * read for nothing, or any coding for chunks, and the bytes behind that for the next request, where a proxy may have seen one body.
   */
  get framingFault(): string | null {
    if (this.#isFramingRepeated) return 'Content-Length and Transfer-Encoding must be sent once'
    if (this.#transferEncodingAt === 0) {
      return this.contentLength === '' ? 'Content-Length must be a number' : null
    }
    if (this.#contentLengthAt > 0) return 'Content-Length and Transfer-Encoding exclude each other'
    const coding = this.#pairs[this.#transferEncodingAt]!
    return coding.toLowerCase() === CHUNKED ? null : `Transfer-Encoding must be ${CHUNKED}`
  }

  get authorization(): string | undefined {
    return this.#at(this.#authorizationAt)
  }

  get requestId(): string | undefined {
    return this.#at(this.#requestIdAt)
  }

  get minRevision(): string | undefined {
    return this.#at(this.#minRevisionAt)
  }

  /** Whether the library ends the connection behind the answer, as the caller asks for: it takes any value of that length for it. */
  get endsConnection(): boolean {
    return this.#connectionAt > 0 && this.#pairs[this.#connectionAt]!.length === CLOSE.length
  }

  get contentLength(): string | undefined {
    return this.#at(this.#contentLengthAt)
  }

  /** Whether the body is said to have more bytes than that. */
  announcesMoreThan(bytes: number): boolean {
    const length = this.contentLength
    if (length === undefined) return false
    // To have a text read as a number is a call; the few digits of most are read here.
    let number = 0
    for (let at = 0; at < length.length; at++) {
      const digit = length.charCodeAt(at) - CODE_ZERO
      if (digit < 0 || digit > 9) return Number(length) > bytes
      number = number * 10 + digit
    }
    return number > bytes
  }

  #at(place: number): string | undefined {
    return place === 0 ? undefined : this.#pairs[place]
  }

  /**
   * Whether a body follows, of a length that is not known to be 0. For one of no bytes nobody may wait: where the head came in
   * several packets the library does not say that it has ended.
   */
  get announcesBody(): boolean {
    const length = this.contentLength
    if (length === undefined) return this.#transferEncodingAt > 0
    return length.charCodeAt(0) !== CODE_ZERO || Number(length) !== 0
  }

  get(name: string): string | undefined {
    const pairs = this.#pairs
    for (let i = 0; i < this.#length; i += 2) {
      const sent = pairs[i]!
      // Texts of one length are compared by a call, others where they stand.
      if (sent.length === name.length && sent === name) return pairs[i + 1]
    }
    return undefined
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  get size(): number {
    return this.#toMap().size
  }

  forEach(visit: (value: string, name: string, map: ReadonlyMap<string, string>) => void): void {
    for (const [name, value] of this.#toMap()) visit(value, name, this)
  }

  entries(): MapIterator<[string, string]> {
    return this.#toMap().entries()
  }

  keys(): MapIterator<string> {
    return this.#toMap().keys()
  }

  values(): MapIterator<string> {
    return this.#toMap().values()
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.entries()
  }

  #toMap(): Map<string, string> {
    const map = new Map<string, string>()
    const pairs = this.#pairs
    for (let i = 0; i < this.#length; i += 2) if (!map.has(pairs[i]!)) map.set(pairs[i]!, pairs[i + 1]!)
    return map
  }
}

// As the HTTP library delivers them.
const AUTHORIZATION = 'authorization'
const CONNECTION = 'connection'
const CLOSE = 'close'
const REQUEST_ID_NAME = REQUEST_ID.name.toLowerCase()
const MIN_REVISION_NAME = MIN_REVISION.name.toLowerCase()
const CONTENT_LENGTH = 'content-length'
const TRANSFER_ENCODING = 'transfer-encoding'
const CHUNKED = 'chunked'
const CODE_ZERO = 0x30
