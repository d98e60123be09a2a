/**
 * The headers of one request at a time, in the order they came: a read-only map that is made for being filled once and asked
 * a few times. A request brings about ten; comparing ten short texts is cheaper than hashing all of them into a `Map`,
 * and this stands in the way of every decision. Not for long lists: `get` is O(headers).
 *
 * Names are lower case, as the HTTP library delivers them. Of a repeated header the first counts.
 */
export class HeaderList implements ReadonlyMap<string, string> {
  /** Name, value, name, value; behind `#length` stands what was left of requests before. */
  readonly #pairs: string[] = []
  #length = 0
  /** The two that say where the body ends, noted while they come: every decision asks for them. */
  #contentLength: string | undefined
  #transferEncoding: string | undefined
  #isFramingRepeated = false

  /** Those that follow are of another request. */
  clear(): void {
    this.#length = 0
    this.#contentLength = undefined
    this.#transferEncoding = undefined
    this.#isFramingRepeated = false
  }

  /** Takes the next header of the request. */
  add(name: string, value: string): void {
    if (name === CONTENT_LENGTH) {
      this.#isFramingRepeated ||= this.#contentLength !== undefined
      this.#contentLength ??= value
    } else if (name === TRANSFER_ENCODING) {
      this.#isFramingRepeated ||= this.#transferEncoding !== undefined
      this.#transferEncoding ??= value
    }
    this.#pairs[this.#length] = name
    this.#pairs[this.#length + 1] = value
    this.#length += 2
  }

  /**
   * What is wrong with what the headers say of where the body ends; null: nothing. The library takes what it cannot
   * read for nothing, or any coding for chunks, and the bytes behind that for the next request, where a proxy may have seen one body.
   */
  get framingFault(): string | null {
    if (this.#isFramingRepeated) return 'Content-Length and Transfer-Encoding must be sent once'
    const length = this.#contentLength
    const coding = this.#transferEncoding
    if (coding === undefined) return length === '' ? 'Content-Length must be a number' : null
    if (length !== undefined) return 'Content-Length and Transfer-Encoding exclude each other'
    return coding.toLowerCase() === CHUNKED ? null : `Transfer-Encoding must be ${CHUNKED}`
  }

  get contentLength(): string | undefined {
    return this.#contentLength
  }

  /**
   * Whether a body follows, of a length that is not known to be 0. For one of no bytes nobody may wait: where the head came in
   * several packets the library does not say that it has ended.
   */
  get announcesBody(): boolean {
    const length = this.#contentLength
    if (length === undefined) return this.#transferEncoding !== undefined
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

const CONTENT_LENGTH = 'content-length'
const TRANSFER_ENCODING = 'transfer-encoding'
const CHUNKED = 'chunked'
const CODE_ZERO = 0x30
