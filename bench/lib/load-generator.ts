/**
 * A load generator that costs little more than its system calls, because on two cores it must never be the limit: bursts
 * of pipelined requests, made before the clock starts, written to raw connections; answers are told by their bytes.
 *
 * Every distinct request is first asked by itself and its answer judged by the caller. What that answer took in bytes is
 * what must come when it is asked again: an allowed and a denied answer differ in length, so a wrong one ends the run.
 */
import { connect, type Socket } from 'node:net'

export interface WireRequest {
  readonly path: string
  readonly body: string
  /** Whether this is the right answer; called with the parsed body of a 200. */
  isRight(answer: unknown): boolean
}

/** Requests that are written as one, and the bytes of their answers. */
export interface Burst {
  readonly bytes: Buffer
  readonly answerBytes: number
  readonly requests: number
}

export interface Throughput {
  readonly requestsPerSecond: number
  /**
   * Share of a core that the generator used; of one that stays awake, of the time in which it did not look for answers
   * in vain.
   */
  readonly clientCpu: number
}

export interface Latencies {
  /** Milliseconds from when a burst was due to the last byte of its answers, ascending. */
  readonly ms: Float64Array
  readonly clientCpu: number
  /** How late bursts were written, milliseconds, 99th percentile: the generator's own share of the latency. */
  readonly lateMsP99: number
}

const RECEIVE_BYTES = 256 * 1_024
/** After so many answers to others a server has read the megabyte that lay before it. */
const TURNS_UNTIL_READ = 50

/** A request's bytes. */
export function encode(
  { method = 'POST', path, body }: { readonly method?: string; readonly path: string; readonly body: string },
  apiKey: string,
): Buffer {
  const head =
    `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${apiKey}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.from(head + body)
}

/** Asks every request once, alone, and packs them into bursts. Throws at the first wrong answer. */
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
   * Whether the generator goes on looking for answers where it could sleep until one comes. A sleeping one is woken by
   * the server, within the system call that sends the answer: on a virtual machine the core that is woken has left it,
   * and the one that wakes has to leave it, too. A caller on another machine is woken by the network's hardware.
   */
  readonly staysAwake?: boolean
}

/** As many requests as the server takes: each connection sends its next burst when the last one is answered. */
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
 * Bursts at a fixed rate, whether or not earlier ones are answered. Latency counts from when a burst was due, so a server
 * that stops for a while is not forgiven what had to wait. The generator spins, so that it is never late by a timer; a
 * polite one, where its core is shared, sleeps a millisecond at a time, and latency counts from when a burst was written.
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
    // One burst at a time on each connection: the library ends one that goes on asking while an answer waits.
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
 * Requests one by one, a number a second, over connections that each wait for their answer; for requests that change
 * something, which are never pipelined. Ends when `isOver` says so; returns how many a second were answered as done.
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

/** One who asks, and waits for the answer before the next question. */
export class Caller {
  readonly #connection: Connection

  static async open(address: string): Promise<Caller> {
    return new Caller(await Connection.open(address))
  }

  private constructor(connection: Connection) {
    this.#connection = connection
  }

  /** The parsed body of the answer. Throws unless the answer says that it is done. */
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

/** Requests that change something, by so many callers, each of whom waits for the answer: how many a second, and how long each took. */
export async function inTurnsOfCallers(
  address: string,
  next: () => Buffer,
  { callers, seconds }: { readonly callers: number; readonly seconds: number },
): Promise<{ readonly perSecond: number; readonly ms: readonly number[] }> {
  const open = await Promise.all(Array.from({ length: callers }, () => Caller.open(address)))
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
 * How long a burst waits for its answers, in milliseconds, behind others that become whole right before it: the server has
 * all of these but their last bytes, and gets those, one after the other, and then the one.
 */
export async function waitBehind(address: string, one: Burst, others: readonly Burst[]): Promise<number> {
  const open = await Promise.all([one, ...others].map(() => Connection.open(address)))
  const [asking, ...before] = open
  try {
    await Promise.all(before.map((connection, index) => connection.begin(others[index]!)))
    // Each takes a turn of the server's loop, in which it reads what has come on all connections.
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

/** One connection: bursts in order, each done when its answers' bytes have come. */
class Connection {
  readonly #socket: Socket
  readonly #expected: Expected[] = []
  /** While a single answer is read whole. */
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

  /** Resolves when the answers have come. */
  sent(burst: Burst): Promise<void> {
    return new Promise((resolve, reject) => {
      this.onFault = reject
      this.send(burst, resolve)
    })
  }

  /** Sends all but the last byte; resolves when the kernel has it. */
  begin({ bytes }: Burst): Promise<void> {
    return new Promise(resolve => this.#socket.write(bytes.subarray(0, -1), () => resolve()))
  }

  /** Sends the last byte of what was begun; resolves when the answers have come. */
  finish({ bytes, answerBytes, requests }: Burst): Promise<void> {
    return this.sent({ bytes: bytes.subarray(-1), answerBytes, requests })
  }

  /** One request, its answer whole. */
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
