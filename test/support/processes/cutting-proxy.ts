/** A proxy to a Redis server that can cut connections, hold responses and drop published messages. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

interface Target {
  readonly host: string
  readonly port: number
}

/** A published message in the format of RESP2. */
const SIGNAL = /\*3\r\n\$7\r\nmessage\r\n\$\d+\r\n[^\r]*\r\n\$\d+\r\n[^\r]*\r\n/g

/** Drops the response to a command, or the command itself. */
type Fault = 'lose-answer' | 'lose-command'

export class CuttingProxy {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly #server: Server
  #target: Target
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #isCut = false
  isLosingSignals = false
  lostSignals = 0
  /** Number of connections, including refused ones. */
  connections = 0
  #fault: { readonly kind: Fault; readonly command: string; readonly done: () => void } | null = null
  #hold: { readonly command: string; readonly done: (letGo: () => void) => void } | null = null

  /** Opens a proxy for the current test. */
  static async to(target: Target): Promise<CuttingProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const proxy = new CuttingProxy(server, target)
    onTestFinished(() => proxy.#close())
    return proxy
  }

  private constructor(server: Server, target: Target) {
    this.#server = server
    this.#target = target
    this.port = (server.address() as AddressInfo).port
    server.on('connection', socket => this.#connect(socket))
  }

  /** Ends every connection and refuses new ones until `mend` is called. */
  cut(): void {
    this.#isCut = true
    this.#endAll()
  }

  mend(): void {
    this.#isCut = false
  }

  /** Makes all new connections lead to another server. */
  leadTo(target: Target): void {
    this.#target = target
    this.#endAll()
    this.mend()
  }

  /** Ends the connection that sends this command next. Resolves when that has happened. */
  failOn(command: string, kind: Fault): Promise<void> {
    return new Promise(done => {
      this.#fault = { kind, command, done }
    })
  }

  /** Holds responses from this command on. When it arrives, resolves to a function that ends this. */
  holdAnswersFrom(command: string): Promise<() => void> {
    return new Promise(done => {
      this.#hold = { command, done }
    })
  }

  #connect(client: Socket): void {
    this.connections += 1
    if (this.#isCut) {
      client.destroy()
      return
    }
    const server = connect({ host: this.#target.host, port: this.#target.port })
    const pair = [client, server] as const
    this.#pairs.add(pair)
    for (const socket of pair) {
      // Without this option, small packets would be delayed by 40 ms.
      socket.setNoDelay()
      socket.on('error', () => undefined)
      socket.on('close', () => this.#end(pair))
    }
    let isLosing = false
    let held: Buffer[] | null = null
    client.on('data', bytes => {
      const hold = this.#hold
      if (hold && bytes.includes(hold.command)) {
        this.#hold = null
        const kept: Buffer[] = []
        held = kept
        hold.done(() => {
          held = null
          client.write(Buffer.concat(kept))
        })
      }
      const fault = this.#fault
      if (fault && bytes.includes(fault.command)) {
        this.#fault = null
        if (fault.kind === 'lose-command') {
          this.#end(pair)
          fault.done()
          return
        }
        isLosing = true
        server.once('data', () => fault.done())
      }
      server.write(bytes)
    })
    server.on('data', bytes => {
      if (isLosing) this.#end(pair)
      else if (held !== null) held.push(bytes)
      else client.write(this.isLosingSignals ? this.#withoutSignals(bytes) : bytes)
    })
  }

  #withoutSignals(bytes: Buffer): Buffer {
    const text = bytes.toString('latin1')
    this.lostSignals += text.match(SIGNAL)?.length ?? 0
    return Buffer.from(text.replaceAll(SIGNAL, ''), 'latin1')
  }

  #end(pair: readonly [Socket, Socket]): void {
    this.#pairs.delete(pair)
    for (const socket of pair) socket.destroy()
  }

  #endAll(): void {
    for (const pair of this.#pairs) this.#end(pair)
  }

  async #close(): Promise<void> {
    this.#server.close()
    this.#endAll()
    await once(this.#server, 'close')
  }
}
