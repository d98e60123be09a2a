/**
 * A load generator that costs little more than its system calls, because on two cores it must never be the
 * bottleneck. It writes bursts of pipelined requests to plain TCP connections. The bursts are built before
 * the measurement, and responses are recognized by their length.
 *
 * Each distinct request is first sent alone, and the caller verifies its response. When the request is
 * repeated, its response must have the same length. Allowed and denied responses differ in length, so a wrong
 * decision ends the run.
 */
import { connect, type Socket } from 'node:net'

export interface WireRequest {
  /** `POST` by default. */
  readonly method?: string
  readonly path: string
  readonly body: string
  /** Headers other than those of the body. By default, `Authorization` with the key of the measurement. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether a response is correct. Called with the parsed body of a response with the status 200. */
  isRight(answer: unknown): boolean
}

/** Requests that are written together, and the total length of their responses. */
export interface Burst {
  readonly bytes: Buffer
  readonly answerBytes: number
  readonly requests: number
}

export interface Throughput {
  readonly requests: number
  readonly requestsPerSecond: number
  /**
   * Share of a core that the generator used. For a generator that stays awake, the time of polling without a
   * response is not included.
   */
  readonly clientCpu: number
}

export interface Latencies {
  /**
   * Time in milliseconds from when a burst was due until the last byte of its responses arrived. Sorted in
   * ascending order.
   */
  readonly ms: Float64Array
  readonly clientCpu: number
  /**
   * Delay in milliseconds with which bursts were written, as the 99th percentile. It is the part of the
   * latency that the generator causes.
   */
  readonly lateMsP99: number
}

const RECEIVE_BYTES = 256 * 1_024
/**
 * Number of round trips on another connection after which a server has read the megabytes that were pending
 * before.
 */
const TURNS_UNTIL_READ = 50

/** Encodes a request as bytes. */
export function encode(
  { method = 'POST', path, body, headers }: Omit<WireRequest, 'isRight'>,
  apiKey: string,
): Buffer {
  const sent = Object.entries(headers ?? { Authorization: `Bearer ${apiKey}` })
  const head =
    `${method} ${path} HTTP/1.1\r\nHost: bench\r\n` +
    sent.map(([name, value]) => `${name}: ${value}\r\n`).join('') +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.from(head + body)
}

/** Sends each request once, alone, and packs all requests into bursts. Throws at the first wrong response. */
export async function prepare(
  address: string,
  requests: readonly WireRequest[],
  { apiKey, pipelining }: { readonly apiKey: string; readonly pipelining: number },
): Promise<Burst[]> {
  const connection = await Connection.open(address)
  const bursts: Burst[] = []
  for (let from = 0; from + pipelining <= requests.length; from += pipelining) {
    const parts: Buffer[] = []
    let answerBytes = 0
    for (const request of requests.slice(from, from + pipelining)) {
      const bytes = encode(request, apiKey)
      const answer = await connection.ask(bytes)
      if (answer.status !== 200 || !request.isRight(JSON.parse(answer.body))) {
        const told = answer.body.slice(0, 200)
        throw new Error(`wrong answer to ${request.path} ${request.body.slice(0, 200)}: ${told}`)
      }
      parts.push(bytes)
      answerBytes += answer.bytes
    }
    bursts.push({ bytes: Buffer.concat(parts), answerBytes, requests: pipelining })
  }
  connection.close()
  return bursts
}

export interface ClosedLoad {
  readonly connections: number
  readonly seconds: number
  /**
   * Whether the generator polls for responses and does not sleep. If it sleeps, the server wakes it within
   * the system call that sends the response. On a virtual machine, this is expensive: the idle core was given
   * back to the host, so both the waking and the woken core must leave the virtual machine. The network
   * hardware, and not the server, wakes a client on another machine.
   */
  readonly staysAwake?: boolean
}

/**
 * Sends as many requests as the server can answer. Each connection sends its next burst when its last burst
 * has completed.
 */
export async function closedLoop(
  address: string,
  bursts: readonly Burst[],
  { connections, seconds, staysAwake = false }: ClosedLoad,
): Promise<Throughput> {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(address)))
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const until = startedAt + seconds * 1_000
  let next = 0
  let requests = 0
  let idleMs = 0
  if (staysAwake) {
    let answered = 0
    let lookedAt = startedAt
    const look = (): void => {
      const now = performance.now()
      if (requests === answered) idleMs += now - lookedAt
      answered = requests
      lookedAt = now
      if (now < until) setImmediate(look)
    }
    look()
  }
  await Promise.all(
    open.map(
      connection =>
        new Promise<void>((resolve, reject) => {
          connection.onFault = reject
          const send = (): void => {
            const burst = bursts[next++ % bursts.length]!
            connection.send(burst, () => {
              requests += burst.requests
              if (performance.now() < until) send()
              else resolve()
            })
          }
          send()
        }),
    ),
  )
  const elapsedMs = performance.now() - startedAt
  const cpu = process.cpuUsage(cpuBefore)
  for (const connection of open) connection.close()
  return {
    requests,
    requestsPerSecond: (requests * 1_000) / elapsedMs,
    clientCpu: (staysAwake ? elapsedMs - idleMs : (cpu.user + cpu.system) / 1_000) / elapsedMs,
  }
}

/**
 * Sends bursts at a fixed rate, even if earlier ones have not completed. Latency is measured from the time
 * when a burst was due. If a server pauses, the delays of waiting bursts are therefore included. The
 * generator polls, so that timers do not delay it. With `isPolite`, the generator shares a core with other
 * processes: it sleeps for a millisecond at a time, and latency is measured from when a burst was written.
 */
export async function fixedRate(
  address: string,
  bursts: readonly Burst[],
  options: {
    readonly connections: number
    readonly seconds: number
    readonly burstsPerSecond: number
    readonly isPolite?: boolean
  },
): Promise<Latencies> {
  const { connections, seconds, burstsPerSecond, isPolite = false } = options
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(address)))
  const total = Math.floor(seconds * burstsPerSecond)
  const ms = new Float64Array(total)
  const late = new Float64Array(total)
  const everyMs = 1_000 / burstsPerSecond
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  let sent = 0
  let answered = 0
  await new Promise<void>((resolve, reject) => {
    for (const connection of open) connection.onFault = reject
    // Each connection has one burst at a time, because the HTTP library closes a connection that sends
    // further requests while a response is pending.
    const idle = [...open]
    const waiting: { readonly index: number; readonly due: number }[] = []
    const begin = (connection: Connection, { index, due }: { index: number; due: number }): void => {
      connection.send(bursts[index % bursts.length]!, () => {
        ms[index] = performance.now() - due
        answered++
        const next = waiting.shift()
        if (next === undefined) idle.push(connection)
        else begin(connection, next)
        if (answered === total) resolve()
      })
    }
    const turn = (): void => {
      const now = performance.now()
      while (sent < total && startedAt + sent * everyMs <= now) {
        const index = sent++
        const due = isPolite ? now : startedAt + index * everyMs
        late[index] = now - due
        const connection = idle.pop()
        if (connection === undefined) waiting.push({ index, due })
        else begin(connection, { index, due })
      }
      if (sent >= total) return
      if (isPolite) setTimeout(turn, 1)
      else setImmediate(turn)
    }
    turn()
  })
  const elapsedMs = performance.now() - startedAt
  const cpu = process.cpuUsage(cpuBefore)
  for (const connection of open) connection.close()
  return {
    ms: ms.toSorted(),
    clientCpu: (cpu.user + cpu.system) / 1_000 / elapsedMs,
    lateMsP99: late.toSorted()[Math.floor(total * 0.99)]!,
  }
}

/**
 * Sends single requests at a given rate. Each connection waits for its response before it sends another
 * request. Used for requests that change data, which are never pipelined. Ends when `isOver` returns true.
 * Returns the number of successful requests per second.
 */
export async function paced(
  address: string,
  next: () => Buffer,
  options: { readonly connections: number; readonly perSecond: number; readonly isOver: () => boolean },
): Promise<number> {
  const startedAt = performance.now()
  let begun = 0
  let answered = 0
  const run = async (): Promise<void> => {
    const connection = await Connection.open(address)
    while (!options.isOver()) {
      const due = startedAt + (begun++ * 1_000) / options.perSecond
      const early = due - performance.now()
      if (early > 0) await new Promise(resolve => setTimeout(resolve, early))
      const { status, body } = await connection.ask(next())
      if (status !== 200 && status !== 204)
        throw new Error(`a change was answered ${status}: ${body.slice(0, 200)}`)
      answered++
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: options.connections }, run))
  return (answered * 1_000) / (performance.now() - startedAt)
}

/** A connection that waits for each response before it sends the next request. */
export class LoadClient {
  readonly #connection: Connection

  static async open(address: string): Promise<LoadClient> {
    return new LoadClient(await Connection.open(address))
  }

  private constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Sends a request and returns the parsed body of the response. Throws if the request fails. */
  async done(request: Buffer): Promise<unknown> {
    const { status, body } = await this.#connection.ask(request)
    if (status < 200 || status > 204)
      throw new Error(`a request was answered ${status}: ${body.slice(0, 200)}`)
    return body === '' ? null : (JSON.parse(body) as unknown)
  }

  close(): void {
    this.#connection.close()
  }
}

/**
 * Sends requests that change data from a number of callers. Each caller waits for its response before it
 * sends another request. Returns the rate per second and the duration of each request.
 */
export async function inTurnsOfCallers(
  address: string,
  next: () => Buffer,
  { callers, seconds }: { readonly callers: number; readonly seconds: number },
): Promise<{ readonly perSecond: number; readonly ms: readonly number[] }> {
  const open = await Promise.all(Array.from({ length: callers }, () => LoadClient.open(address)))
  const ms: number[] = []
  const startedAt = performance.now()
  const until = startedAt + seconds * 1_000
  await Promise.all(
    open.map(async caller => {
      for (let from = performance.now(); from < until;) {
        await caller.done(next())
        const now = performance.now()
        ms.push(now - from)
        from = now
      }
    }),
  )
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  for (const caller of open) caller.close()
  return { perSecond: ms.length / elapsedSeconds, ms }
}

/**
 * Returns how many milliseconds a burst waits for its responses if other bursts are completed directly before
 * it. Before the measurement, the server has received all of the other bursts except their last bytes. Then
 * these last bytes are sent one after the other, followed by the burst.
 */
export async function waitBehind(address: string, one: Burst, others: readonly Burst[]): Promise<number> {
  const open = await Promise.all([one, ...others].map(() => Connection.open(address)))
  const [asking, ...before] = open
  try {
    await Promise.all(before.map((connection, index) => connection.begin(others[index]!)))
    // Each round trip takes one iteration of the server's event loop. In an iteration, the server reads the
    // received data of all connections.
    for (let times = 0; times < TURNS_UNTIL_READ; times++) await asking!.sent(one)
    const answers = before.map((connection, index) => connection.finish(others[index]!))
    const startedAt = performance.now()
    const waited = asking!.sent(one).then(() => performance.now() - startedAt)
    const [ms] = await Promise.all([waited, ...answers])
    return ms
  } finally {
    for (const connection of open) connection.close()
  }
}

interface Expected {
  answerBytes: number
  readonly onDone: () => void
}

/**
 * One connection. It sends bursts in order. A burst is complete when all bytes of its responses have arrived.
 */
class Connection {
  readonly #socket: Socket
  readonly #expected: Expected[] = []
  /** Data that was received so far, while the response to a single request is read. */
  #reading: Buffer[] | null = null
  #onPiece: () => void = () => {}
  #isClosed = false
  onFault: (error: Error) => void = error => {
    throw error
  }

  static open(address: string): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(address)
      const connection: Connection = new Connection(
        { host: hostname, port: Number(port) },
        () => resolve(connection),
        reject,
      )
    })
  }

  private constructor(
    target: { readonly host: string; readonly port: number },
    onOpen: () => void,
    onRefused: (error: Error) => void,
  ) {
    this.#socket = connect({
      ...target,
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(RECEIVE_BYTES),
        callback: (length, buffer) => {
          this.#take(length, buffer as Buffer)
          return true
        },
      },
    })
    this.#socket.once('connect', onOpen)
    this.#socket.on('error', error => {
      onRefused(error)
      if (!this.#isClosed) this.onFault(error)
    })
    this.#socket.on('close', () => {
      if (this.#isClosed) return
      const message =
        'the server closed a connection: it ended, or waits for the next request while an answer was too short'
      this.onFault(new Error(message))
    })
  }

  send({ bytes, answerBytes }: Burst, onDone: () => void): void {
    this.#expected.push({ answerBytes, onDone })
    this.#socket.write(bytes)
  }

  /** Sends a burst and resolves when its responses have arrived. */
  sent(burst: Burst): Promise<void> {
    return new Promise((resolve, reject) => {
      this.onFault = reject
      this.send(burst, resolve)
    })
  }

  /** Sends all bytes of a burst except the last byte. Resolves when the kernel has accepted these bytes. */
  begin({ bytes }: Burst): Promise<void> {
    return new Promise(resolve => this.#socket.write(bytes.subarray(0, -1), () => resolve()))
  }

  /** Sends the last byte of a burst after `begin`. Resolves when the responses have arrived. */
  finish({ bytes, answerBytes, requests }: Burst): Promise<void> {
    return this.sent({ bytes: bytes.subarray(-1), answerBytes, requests })
  }

  /** Sends one request and returns its complete response. */
  ask(bytes: Buffer): Promise<{ status: number; body: string; bytes: number }> {
    this.#reading = []
    return new Promise(resolve => {
      this.#onPiece = () => {
        const text = Buffer.concat(this.#reading!)
        const headEnd = text.indexOf('\r\n\r\n')
        if (headEnd === -1) return
        const head = text.toString('latin1', 0, headEnd)
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
        if (text.length < headEnd + 4 + length) return
        this.#reading = null
        const body = text.toString('utf8', headEnd + 4)
        resolve({ status: Number(head.slice(9, 12)), body, bytes: text.length })
      }
      this.#socket.write(bytes)
    })
  }

  close(): void {
    this.#isClosed = true
    this.#socket.destroy()
  }

  #take(length: number, buffer: Buffer): void {
    if (this.#reading !== null) {
      this.#reading.push(Buffer.from(buffer.subarray(0, length)))
      this.#onPiece()
      return
    }
    let rest = length
    while (rest > 0) {
      const first = this.#expected[0]
      if (first === undefined) {
        this.onFault(new Error('more came than the right answers'))
        return
      }
      const taken = Math.min(rest, first.answerBytes)
      first.answerBytes -= taken
      rest -= taken
      if (first.answerBytes === 0) {
        this.#expected.shift()
        first.onDone()
      }
    }
  }
}
