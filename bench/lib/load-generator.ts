/**
 * A load generator that costs little more than its system calls, because on two cores it must never be the
 * bottleneck. It writes bursts of pipelined requests, which are built before the measurement, to raw
 * connections and identifies responses by their length.
 *
 * Every distinct request is first sent alone, and the caller verifies its response. The length of that
 * response is required when the request is repeated: allowed and denied responses differ in length, so a
 * wrong one ends the run.
 */
import { connect, type Socket } from 'node:net'

export interface WireRequest {
  readonly path: string
  readonly body: string
  /** True if the response is right. Called with the parsed body of a 200 response. */
  isRight(answer: unknown): boolean
}

/** Requests that are written together, and the length of their responses. */
export interface Burst {
  readonly bytes: Buffer
  readonly answerBytes: number
  readonly requests: number
}

export interface Throughput {
  readonly requestsPerSecond: number
  /**
   * Share of a core that the generator used. A generator that stays awake does not count the time of polling
   * without a response.
   */
  readonly clientCpu: number
}

export interface Latencies {
  /** Milliseconds from when a burst was due to the last byte of its responses, ascending. */
  readonly ms: Float64Array
  readonly clientCpu: number
  /**
   * Delay of the writes of bursts in milliseconds, 99th percentile: the share of the generator in the
   * latency.
   */
  readonly lateMsP99: number
}

const RECEIVE_BYTES = 256 * 1_024
/**
 * After this many round trips on another connection, a server has read the megabytes that were pending
 * before.
 */
const TURNS_UNTIL_READ = 50

/** Encodes a request as bytes. */
export function encode(
  { method = 'POST', path, body }: { readonly method?: string; readonly path: string; readonly body: string },
  apiKey: string,
): Buffer {
  const head =
    `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${apiKey}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.from(head + body)
}

/**
 * Sends every request once, alone, and packs the requests into bursts. Throws at the first wrong response.
 */
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
   * True if the generator polls for responses instead of sleeping. The server wakes a sleeping generator
   * within the system call that sends the response. On a virtual machine, the idle core has been given up,
   * and both the waking and the woken core have to leave the virtual machine for that. A client on another
   * machine is woken by the network hardware instead.
   */
  readonly staysAwake?: boolean
}

/**
 * Sends as many requests as the server can serve: each connection sends its next burst when the last one has
 * completed.
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
    requestsPerSecond: (requests * 1_000) / elapsedMs,
    clientCpu: (staysAwake ? elapsedMs - idleMs : (cpu.user + cpu.system) / 1_000) / elapsedMs,
  }
}

/**
 * Sends bursts at a fixed rate, whether or not earlier ones have completed. Latency counts from when a burst
 * was due, so that the delays of waiting bursts are included if a server pauses. The generator polls, so that
 * timers do not delay it. With `isPolite`, on a shared core, it sleeps for a millisecond at a time, and
 * latency counts from when a burst was written.
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
    // One burst at a time per connection: the HTTP library closes a connection that sends further requests
    // while a response is pending.
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
 * Sends single requests at a given rate over connections that each wait for their response. For requests that
 * change data, which are never pipelined. Ends when `isOver` returns true; returns the number of successful
 * requests per second.
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

  /** Returns the parsed body of the response. Throws unless the request succeeded. */
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
 * Sends requests that change data from a number of callers, each of which waits for its response. Returns the
 * rate per second and the duration of each request.
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
 * Milliseconds that a burst waits for its responses after other bursts that are completed right before it.
 * The server has received all of the others except their last bytes; these are sent one after the other,
 * followed by the burst.
 */
export async function waitBehind(address: string, one: Burst, others: readonly Burst[]): Promise<number> {
  const open = await Promise.all([one, ...others].map(() => Connection.open(address)))
  const [asking, ...before] = open
  try {
    await Promise.all(before.map((connection, index) => connection.begin(others[index]!)))
    // Each round trip takes one iteration of the server's event loop, in which it reads the received data of
    // all connections.
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

/** One connection: sends bursts in order; each is complete when all bytes of its responses have arrived. */
class Connection {
  readonly #socket: Socket
  readonly #expected: Expected[] = []
  /** Received data while a single response is read completely. */
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

  /** Resolves when the responses have arrived. */
  sent(burst: Burst): Promise<void> {
    return new Promise((resolve, reject) => {
      this.onFault = reject
      this.send(burst, resolve)
    })
  }

  /** Sends all bytes except the last; resolves when the kernel has accepted them. */
  begin({ bytes }: Burst): Promise<void> {
    return new Promise(resolve => this.#socket.write(bytes.subarray(0, -1), () => resolve()))
  }

  /** Sends the last byte of a burst that was begun; resolves when the responses have arrived. */
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
