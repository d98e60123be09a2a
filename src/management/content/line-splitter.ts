/** Splits a stream of byte pieces, which can end anywhere, into lines of text. */
import { AuthzError } from '#model/errors.ts'
import { CONTENT_LINE_BYTES_MAX } from '#model/limits.ts'

const LINE_END = 0x0a

/** A line that is not blank, and its number in the file. */
export interface NumberedLine {
  readonly number: number
  readonly text: string
}

export class LineSplitter {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  /** The pieces of an unfinished line. */
  #rest: Uint8Array[] = []
  #restBytes = 0
  /** Number of lines so far, including blank ones. */
  #count = 0

  #decode(last: Uint8Array): string {
    const bytes = this.#rest.length === 0 ? last : Buffer.concat([...this.#rest, last])
    this.#rest = []
    this.#restBytes = 0
    if (bytes.length > CONTENT_LINE_BYTES_MAX) throw this.#tooLong()
    try {
      const line = this.#decoder.decode(bytes).trim()
      this.#count += 1
      return line
    } catch {
      const found = this.#count === 0 && isGzip(bytes) ? ', found gzip: decompress it first' : ''
      throw new AuthzError('INVALID_INPUT', `line ${this.#count + 1}: expected UTF-8${found}`)
    }
  }

  /** Decodes several lines together, which is much faster; null if one of them may be invalid. */
  #decodeMany(bytes: Uint8Array): string[] | null {
    if (bytes.length > CONTENT_LINE_BYTES_MAX) return null
    try {
      return this.#decoder.decode(bytes).split('\n')
    } catch {
      return null
    }
  }

  #tooLong(): AuthzError {
    const message = `line ${this.#count + 1}: a line has at most ${CONTENT_LINE_BYTES_MAX} bytes`
    return new AuthzError('LIMIT_EXCEEDED', message)
  }

  /**
   * The lines that end in this piece, without line ends. Blank lines are omitted. Throws `INVALID_INPUT` and
   * `LIMIT_EXCEEDED`.
   */
  *take(piece: Uint8Array): Iterable<NumberedLine> {
    let start = 0
    let isTried = false
    for (let end = piece.indexOf(LINE_END); end >= 0; end = piece.indexOf(LINE_END, start)) {
      // Lines are decoded together only after the end of a line that began in an earlier piece.
      const triesMany: boolean = !isTried && this.#rest.length === 0
      const last = triesMany ? piece.lastIndexOf(LINE_END) : -1
      const many = triesMany ? this.#decodeMany(piece.subarray(start, last)) : null
      isTried ||= triesMany
      if (many !== null) {
        for (const line of many) {
          const text = line.trim()
          this.#count += 1
          if (text !== '') yield { number: this.#count, text }
        }
        start = last + 1
        break
      }
      const text = this.#decode(piece.subarray(start, end))
      if (text !== '') yield { number: this.#count, text }
      start = end + 1
    }
    if (start === piece.length) return
    // A copy, because the piece belongs to the caller.
    this.#rest.push(piece.slice(start))
    this.#restBytes += piece.length - start
    if (this.#restBytes > CONTENT_LINE_BYTES_MAX) throw this.#tooLong()
  }

  /** The last line, if it has no line end. */
  *finish(): Iterable<NumberedLine> {
    const text = this.#decode(new Uint8Array())
    if (text !== '') yield { number: this.#count, text }
  }
}

/** Whether the bytes begin with the signature of a gzip file. */
function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}
