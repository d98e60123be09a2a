/**
 * Headers of one request: a read-only map that is filled once and read a few times. It is used for every
 * decision, so it is optimized for speed. Headers that are read for every route have their own fields. Other
 * headers, if they are kept, are in a list, because comparing ten short strings is cheaper than hashing all
 * of them into a `Map`. `get` is O(headers), so the list is not suitable for many headers.
 *
 * Names are lower case, as the HTTP library delivers them. If a header is repeated, the first value counts.
 * Iteration yields headers with fields first, then the others in the order of their arrival. If others are
 * not kept (`clear`), reading one of them, `size` or all headers throws `InvariantError`.
 *
 * A proxy in front of the service might use the last value of a repeated header instead of the first.
 * `contradiction` finds the headers for which that would make a difference.
 */
import { assert } from '#model/assert.ts'
import { MIN_REVISION, REQUEST_ID } from './header-fields.ts'

export class HeaderList implements ReadonlyMap<string, string> {
  #authorization: string | undefined
  #connection: string | undefined
  #contentEncoding: string | undefined
  #contentLength: string | undefined
  #contentType: string | undefined
  #minRevision: string | undefined
  #requestId: string | undefined
  #transferEncoding: string | undefined
  /** Whether one of the headers that determine the length of the body is repeated. */
  #isFramingRepeated = false
  /** First of the headers with fields that occurs twice with different values and can have one value only. */
  #contradiction: string | null = null
  /** Alternating names and values. Entries after `#othersLength` belong to earlier requests. */
  readonly #others: string[] = []
  #othersLength = 0
  #keepsOthers = true

  /**
   * Empties the list for another request. `keepsOthers`: whether the request can read headers that have no
   * field. Each kept string adds work for the garbage collector.
   */
  clear(keepsOthers: boolean): void {
    this.#authorization = undefined
    this.#connection = undefined
    this.#contentEncoding = undefined
    this.#contentLength = undefined
    this.#contentType = undefined
    this.#minRevision = undefined
    this.#requestId = undefined
    this.#transferEncoding = undefined
    this.#isFramingRepeated = false
    this.#contradiction = null
    this.#othersLength = 0
    this.#keepsOthers = keepsOthers
  }

  /** Adds the next header of the request. */
  add(name: string, value: string): void {
    // Compares the length first: only strings of equal length are compared by a function call.
    switch (name.length) {
      case CONNECTION.length:
        if (name !== CONNECTION) break
        this.#connection ??= value
        return
      case CONTENT_TYPE.length:
        if (name === CONTENT_TYPE) this.#contentType = this.#only(name, this.#contentType, value)
        else if (name === REQUEST_ID_NAME) this.#requestId ??= value
        else break
        return
      case AUTHORIZATION.length:
        if (name !== AUTHORIZATION) break
        this.#authorization = this.#only(name, this.#authorization, value)
        return
      case CONTENT_LENGTH.length:
        if (name === CONTENT_LENGTH) {
          this.#isFramingRepeated ||= this.#contentLength !== undefined
          this.#contentLength ??= value
        } else if (name === MIN_REVISION_NAME) this.#minRevision = this.#only(name, this.#minRevision, value)
        else break
        return
      case CONTENT_ENCODING.length:
        if (name !== CONTENT_ENCODING) break
        this.#contentEncoding = this.#only(name, this.#contentEncoding, value)
        return
      case TRANSFER_ENCODING.length:
        if (name !== TRANSFER_ENCODING) break
        this.#isFramingRepeated ||= this.#transferEncoding !== undefined
        this.#transferEncoding ??= value
        return
      default:
    }
    if (this.#keepsOthers) this.#addOther(name, value)
  }

  /**
   * Returns the value of a header that can have one value only, and records a second value that differs from
   * the first.
   */
  #only(name: string, first: string | undefined, value: string): string {
    if (first === undefined) return value
    if (first !== value) this.#contradiction ??= name
    return first
  }

  #addOther(name: string, value: string): void {
    const at = this.#othersLength
    this.#others[at] = name
    this.#others[at + 1] = value
    this.#othersLength = at + 2
  }

  /**
   * Error in the headers that determine the length of the body; null if there is none. The library ignores a
   * length that it cannot parse and treats any transfer coding as chunked. It would then process the
   * remaining bytes as the next request, although a proxy might have seen a single body (request smuggling).
   */
  get framingFault(): string | null {
    if (this.#isFramingRepeated) return 'Content-Length and Transfer-Encoding must be sent once'
    const coding = this.#transferEncoding
    if (coding === undefined) return this.#contentLength === '' ? 'Content-Length must be a number' : null
    if (this.#contentLength !== undefined) return 'Content-Length and Transfer-Encoding exclude each other'
    return coding.toLowerCase() === CHUNKED ? null : `Transfer-Encoding must be ${CHUNKED}`
  }

  /**
   * Name of a header that occurs twice with different values and must not: credentials, the form of the body,
   * the revision to wait for, and the `others` that the route names. Null: none. O(others × headers).
   */
  contradiction(others: readonly string[]): string | null {
    if (this.#contradiction !== null) return this.#contradiction
    for (const name of others) if (this.#isContradicted(name)) return name
    return null
  }

  #isContradicted(name: string): boolean {
    const first = this.#otherOf(name)
    const others = this.#others
    for (let i = 0; i < this.#othersLength; i += 2) {
      if (others[i] === name && others[i + 1] !== first) return true
    }
    return false
  }

  /** Whether the body uses chunked transfer coding. */
  get comesInChunks(): boolean {
    return this.#transferEncoding !== undefined
  }

  get authorization(): string | undefined {
    return this.#authorization
  }

  get contentEncoding(): string | undefined {
    return this.#contentEncoding
  }

  get contentLength(): string | undefined {
    return this.#contentLength
  }

  get contentType(): string | undefined {
    return this.#contentType
  }

  get minRevision(): string | undefined {
    return this.#minRevision
  }

  get requestId(): string | undefined {
    return this.#requestId
  }

  /**
   * Whether the client asks to end the connection after the response. The library treats any `Connection`
   * value with the length of `close` as this request.
   */
  get endsConnection(): boolean {
    return this.#connection !== undefined && this.#connection.length === CLOSE.length
  }

  /** Whether the announced length of the body is greater than `bytes`. */
  announcesMoreThan(bytes: number): boolean {
    const length = this.#contentLength
    if (length === undefined) return false
    // Parses digits directly, because `Number` is a function call and most lengths have few digits.
    let number = 0
    for (let at = 0; at < length.length; at++) {
      const digit = length.charCodeAt(at) - CODE_ZERO
      if (digit < 0 || digit > 9) return Number(length) > bytes
      number = number * 10 + digit
    }
    return number > bytes
  }

  /**
   * Whether a body follows whose length is not known to be 0. The server must not wait for an empty body: if
   * the head arrives in several packets, the library does not report the end of the body.
   */
  get announcesBody(): boolean {
    const length = this.#contentLength
    if (length === undefined) return this.#transferEncoding !== undefined
    return length.charCodeAt(0) !== CODE_ZERO || Number(length) !== 0
  }

  get(name: string): string | undefined {
    switch (name) {
      case AUTHORIZATION:
        return this.#authorization
      case CONNECTION:
        return this.#connection
      case CONTENT_ENCODING:
        return this.#contentEncoding
      case CONTENT_LENGTH:
        return this.#contentLength
      case CONTENT_TYPE:
        return this.#contentType
      case MIN_REVISION_NAME:
        return this.#minRevision
      case REQUEST_ID_NAME:
        return this.#requestId
      case TRANSFER_ENCODING:
        return this.#transferEncoding
      default:
        return this.#otherOf(name)
    }
  }

  #otherOf(name: string): string | undefined {
    this.#assertKept()
    const others = this.#others
    for (let i = 0; i < this.#othersLength; i += 2) if (others[i] === name) return others[i + 1]
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

  #assertKept(): void {
    assert(this.#keepsOthers, 'the requested header was not kept')
  }

  #toMap(): Map<string, string> {
    this.#assertKept()
    const map = new Map<string, string>()
    for (const name of WITH_FIELDS) {
      const value = this.get(name)
      if (value !== undefined) map.set(name, value)
    }
    const others = this.#others
    for (let i = 0; i < this.#othersLength; i += 2) {
      if (!map.has(others[i]!)) map.set(others[i]!, others[i + 1]!)
    }
    return map
  }
}

// Names as the HTTP library delivers them.
const AUTHORIZATION = 'authorization'
const CONNECTION = 'connection'
const CLOSE = 'close'
const REQUEST_ID_NAME = REQUEST_ID.name.toLowerCase()
const MIN_REVISION_NAME = MIN_REVISION.name.toLowerCase()
const CONTENT_ENCODING = 'content-encoding'
const CONTENT_LENGTH = 'content-length'
const CONTENT_TYPE = 'content-type'
const TRANSFER_ENCODING = 'transfer-encoding'
/** Names of all headers that have fields. A header that is missing here is missing in the map. */
const WITH_FIELDS = [
  AUTHORIZATION,
  CONNECTION,
  CONTENT_ENCODING,
  CONTENT_LENGTH,
  CONTENT_TYPE,
  MIN_REVISION_NAME,
  REQUEST_ID_NAME,
  TRANSFER_ENCODING,
]
const CHUNKED = 'chunked'
const CODE_ZERO = 0x30
