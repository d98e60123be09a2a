/**
 * Headers of one request: a map that is filled once and then only read. It is used for every decision and
 * therefore optimized for speed. Each header that is read for every route has its own field. If other headers
 * are kept, they are in a list, because comparing ten short strings is cheaper than hashing all of them into
 * a `Map`. `get` is O(headers), so this class is not suitable for many headers.
 *
 * Names are in lower case, as the HTTP library delivers them. If a header is repeated, its first value
 * counts. Iteration yields the headers with fields first, and then the others in the order of their arrival.
 * If the others are not kept (`clear`), an access to one of them, to `size` or to all headers throws
 * `InvariantError`.
 *
 * A proxy in front of the service might use the last value of a repeated header and not the first.
 * `contradiction` finds the headers for which this would make a difference.
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
  /**
   * Whether `Content-Length` or `Transfer-Encoding` is repeated. These headers determine the length of the
   * body.
   */
  #isFramingRepeated = false
  /**
   * Name of the first header that occurs twice with different values, although it can have only one value.
   * Only headers with fields are considered.
   */
  #contradiction: string | null = null
  /**
   * Names and values of the other headers, alternating. Entries from `#othersLength` on belong to earlier
   * requests.
   */
  readonly #others: string[] = []
  #othersLength = 0
  #keepsOthers = true

  /**
   * Empties the list for another request. `keepsOthers`: whether to keep headers that have no field. They are
   * kept only if the request can read them, because each kept string adds work for the garbage collector.
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
    // Compares the length of the name first, because comparing two strings of equal length is a function
    // call.
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
   * Returns the value of a header that must have a single value. If it occurs again with another value, the
   * first value is kept and the contradiction is recorded.
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
   * Message about an error in `Content-Length` or `Transfer-Encoding`, which determine the length of the
   * body. Null if there is no error. The HTTP library ignores a length that it cannot parse, and treats every
   * transfer coding as chunked. It would then process the remaining bytes as the next request, although a
   * proxy might have seen a single body (request smuggling).
   */
  get framingFault(): string | null {
    if (this.#isFramingRepeated) return 'Content-Length and Transfer-Encoding must be sent once'
    const coding = this.#transferEncoding
    if (coding === undefined) return this.#contentLength === '' ? 'Content-Length must be a number' : null
    if (this.#contentLength !== undefined) return 'Content-Length and Transfer-Encoding exclude each other'
    return coding.toLowerCase() === CHUNKED ? null : `Transfer-Encoding must be ${CHUNKED}`
  }

  /**
   * Name of a header that occurs twice with different values and must not. These are the headers for
   * credentials, for the form of the body and for the revision to wait for, and the headers in `others`,
   * which the route defines. Null if there is none. O(others × headers).
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

  /** Whether a header without a field occurs twice, even with equal values. O(headers). */
  isRepeated(name: string): boolean {
    this.#assertKept()
    let count = 0
    for (let i = 0; i < this.#othersLength; i += 2) if (this.#others[i] === name) count += 1
    return count > 1
  }

  /** All values of a header without a field, in the order of their arrival. O(headers). */
  valuesOf(name: string): string[] {
    this.#assertKept()
    const values: string[] = []
    for (let i = 0; i < this.#othersLength; i += 2) {
      if (this.#others[i] === name) values.push(this.#others[i + 1]!)
    }
    return values
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
   * Whether the client asks to close the connection after the response. The HTTP library assumes this for any
   * `Connection` header whose value is as long as `close`.
   */
  get endsConnection(): boolean {
    return this.#connection !== undefined && this.#connection.length === CLOSE.length
  }

  /** Whether the announced length of the body is greater than `bytes`. */
  announcesMoreThan(bytes: number): boolean {
    const length = this.#contentLength
    if (length === undefined) return false
    // The digits are parsed here, because most lengths have few digits and `Number` is a function call.
    let number = 0
    for (let at = 0; at < length.length; at++) {
      const digit = length.charCodeAt(at) - CODE_ZERO
      if (digit < 0 || digit > 9) return Number(length) > bytes
      number = number * 10 + digit
    }
    return number > bytes
  }

  /**
   * Whether a body follows, which is true unless its announced length is 0. The server must not wait for an
   * empty body: if the head arrives in several packets, the HTTP library does not report the end of such a
   * body.
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

// Header names in lower case, as the HTTP library delivers them.
const AUTHORIZATION = 'authorization'
const CONNECTION = 'connection'
const CLOSE = 'close'
const REQUEST_ID_NAME = REQUEST_ID.name.toLowerCase()
const MIN_REVISION_NAME = MIN_REVISION.name.toLowerCase()
const CONTENT_ENCODING = 'content-encoding'
const CONTENT_LENGTH = 'content-length'
const CONTENT_TYPE = 'content-type'
const TRANSFER_ENCODING = 'transfer-encoding'
/** Names of all headers that have fields. If a name is missing here, iteration does not yield this header. */
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
