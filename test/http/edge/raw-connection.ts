/**
 * A TCP connection that says exactly the bytes a test gives it, for what no well-behaved client can express, and reads
 * the answers back one by one. Waits for what arrives, never for time.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  /** Lower-case name → value. */
  readonly headers: ReadonlyMap<string, string>
  /** Lower case, in order, those that are repeated as often as they are. */
  readonly headerNames: readonly string[]
  readonly body: string
}

export class RawConnection {
  readonly #socket: Socket
  #pieces: Buffer[] = []
  #receivedBytes = 0
  /** Bytes without which no answer can be whole; joining the pieces before would be quadratic. */
  #neededBytes = 0
  /** Resolves when the other side has closed, in whichever way. */
  readonly closed: Promise<void>

  private constructor(socket: Socket) {
    this.#socket = socket
    this.closed = new Promise(resolve => socket.once('close', () => resolve()))
    socket.on('data', (bytes: Buffer) => {
      this.#pieces.push(bytes)
      this.#receivedBytes += bytes.length
    })
    // A reset is one of the ways to be closed.
    socket.on('error', () => {})
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    const connection = new RawConnection(socket)
    await once(socket, 'connect')
    return connection
  }

  /** Sends the text byte by byte as latin1; resolves when it went to the kernel. */
  send(text: string | Buffer): Promise<void> {
    const bytes = typeof text === 'string' ? Buffer.from(text, 'latin1') : text
    return new Promise(resolve => this.#socket.write(bytes, () => resolve()))
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Ends the connection by RST: what is on its way is lost, and the other side hears so. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  /** The next answer; `null` when the connection closed without a whole one. */
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
    const received = Buffer.concat(this.#pieces)
    this.#pieces = [received]
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd === -1) return null
    const [statusLine, ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n')
    const fields = lines.map(headerOf)
    const headers = new Map(fields)
    const end = headEnd + 4 + (isToHead ? 0 : Number(headers.get('content-length') ?? 0))
    this.#neededBytes = end
    if (received.length < end) return null
    this.#pieces = [received.subarray(end)]
    this.#receivedBytes = received.length - end
    this.#neededBytes = 0
    const body = received.subarray(headEnd + 4, end).toString('utf8')
    return {
      status: Number(statusLine!.split(' ')[1]),
      headers,
      headerNames: fields.map(([name]) => name),
      body,
    }
  }
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

/** The text of a request; headers in the order given, with exactly these names. */
export function requestText(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: test', ...headers, '', body].join('\r\n')
}
