/** A TCP connection. It sends exactly the given bytes and reads the responses one by one. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  /** Header values by lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  /** Lower-case names in order, including repeated ones. */
  readonly headerNames: readonly string[]
  readonly body: string
}

export class RawConnection {
  readonly #socket: Socket
  #pieces: Buffer[] = []
  #receivedBytes = 0
  /** Minimum size of the response. Joining the pieces before they have this size takes quadratic time. */
  #neededBytes = 0
  /** True if the received bytes are the start of a chunked response that is not complete. */
  #isInChunks = false
  /** Resolves when the connection is closed, in any way. */
  readonly closed: Promise<void>

  private constructor(socket: Socket) {
    this.#socket = socket
    this.closed = new Promise(resolve => socket.once('close', () => resolve()))
    socket.on('data', (bytes: Buffer) => {
      this.#pieces.push(bytes)
      this.#receivedBytes += bytes.length
    })
    // Ignores the error of a reset, which also closes the connection.
    socket.on('error', () => {})
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    const connection = new RawConnection(socket)
    await once(socket, 'connect')
    return connection
  }

  /** Sends a string as latin1 bytes, or a buffer. Resolves when the kernel has accepted the bytes. */
  send(text: string | Buffer): Promise<void> {
    const bytes = typeof text === 'string' ? Buffer.from(text, 'latin1') : text
    return new Promise(resolve => this.#socket.write(bytes, () => resolve()))
  }

  /** Sends a request and returns the next response. */
  async ask(text: string | Buffer): Promise<RawAnswer | null> {
    await this.send(text)
    return this.answer()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Half-closes the connection: it sends nothing more, but can still read. */
  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Closes the connection with RST. Data in transit is lost, and the other side is notified. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  /** Returns the next response, or `null` if the connection was closed without a complete one. */
  async answer({ isToHead = false } = {}): Promise<RawAnswer | null> {
    for (;;) {
      const answer = this.#takeAnswer(isToHead)
      if (answer !== null) return answer
      const ended = await Promise.race([
        new Promise<false>(resolve => this.#socket.once('data', () => resolve(false))),
        this.closed.then(() => true),
      ])
      if (ended) return this.#takeAnswer(isToHead)
    }
  }

  #takeAnswer(isToHead: boolean): RawAnswer | null {
    if (this.#receivedBytes < this.#neededBytes) return null
    if (this.#isInChunks && !this.#mayHaveEnded()) return null
    const received = Buffer.concat(this.#pieces)
    this.#pieces = [received]
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd === -1) return null
    const [statusLine, ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n')
    const fields = lines.map(headerOf)
    const headers = new Map(fields)
    if (headers.get('transfer-encoding') === 'chunked' && !isToHead) {
      const chunks = chunksFrom(received, headEnd + 4)
      this.#isInChunks = chunks === null
      if (chunks === null) return null
      return this.#take(received, chunks.end, {
        status: Number(statusLine!.split(' ')[1]),
        headers,
        headerNames: fields.map(([name]) => name),
        body: chunks.body.toString('utf8'),
      })
    }
    const end = headEnd + 4 + (isToHead ? 0 : Number(headers.get('content-length') ?? 0))
    this.#neededBytes = end
    if (received.length < end) return null
    return this.#take(received, end, {
      status: Number(statusLine!.split(' ')[1]),
      headers,
      headerNames: fields.map(([name]) => name),
      body: received.subarray(headEnd + 4, end).toString('utf8'),
    })
  }

  /** Returns true if the last bytes can end a chunked response. Parsing each packet takes quadratic time. */
  #mayHaveEnded(): boolean {
    return Buffer.concat(this.#pieces.slice(-4)).subarray(-4).toString('latin1') === '\r\n\r\n'
  }

  /** Discards the received bytes up to `end`. */
  #take(received: Buffer, end: number, answer: RawAnswer): RawAnswer {
    this.#pieces = [received.subarray(end)]
    this.#receivedBytes = received.length - end
    this.#neededBytes = 0
    return answer
  }
}

/** Returns the content and the end of the chunks that start at `from`; null if they are incomplete. */
function chunksFrom(received: Buffer, from: number): { readonly body: Buffer; readonly end: number } | null {
  const parts: Buffer[] = []
  for (let at = from; ;) {
    const lineEnd = received.indexOf('\r\n', at)
    if (lineEnd === -1) return null
    const size = Number.parseInt(received.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(size)) throw new Error(`invalid chunk size: ${received.toString('latin1', at, lineEnd)}`)
    const end = lineEnd + 2 + size + 2
    if (received.length < end) return null
    if (size === 0) {
      // The trailer follows. It can be empty.
      const last = received.indexOf('\r\n\r\n', lineEnd)
      return last === -1 ? null : { body: Buffer.concat(parts), end: last + 4 }
    }
    parts.push(received.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = end
  }
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

/** Returns the text of a request, with the headers in this order and with exactly these names. */
export function requestText(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: test', ...headers, '', body].join('\r\n')
}
