/** A minimal collector of spans: OTLP over HTTP in protobuf. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty if the span has no parent. */
  readonly parentSpanId: string
  readonly name: string
  /** 1: internal, 2: server. */
  readonly kind: number
  readonly attributes: Readonly<Record<string, string | number>>
  /** 0: unset, 2: error. */
  readonly status: number
  readonly resource: Readonly<Record<string, string | number>>
}

interface Arrival {
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

export class OtlpCollector {
  readonly spans: ReceivedSpan[] = []
  readonly arrivals: Arrival[] = []
  /** Status of the responses. */
  status = 200
  readonly #server = createServer()
  readonly #listeners = new Set<() => void>()
  /** Responses are sent when this is resolved. */
  #gate = Promise.resolve()

  /** Listens until the test is over. */
  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector()
    const server = collector.#server
    server.on('request', (request, response) => {
      void buffer(request).then(async body => {
        const { url = '', headers } = request
        collector.arrivals.push({ url, headers })
        collector.spans.push(...spansOf(body))
        for (const listener of collector.#listeners) listener()
        await collector.#gate
        response.writeHead(collector.status).end()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => collector.stop())
    return collector
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Holds all responses until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gate = promise
    return resolve
  }

  /** Resolves when the received data satisfies the condition. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#listeners.add(resolve)
      await promise
      this.#listeners.delete(resolve)
    }
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

/** Fields of a protobuf message by number. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>

function fieldsOf(message: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const bytes = (length: number): Buffer => message.subarray(at, (at += length))
  while (at < message.length) {
    const key = Number(varint())
    const read = [varint, () => bytes(8), () => bytes(Number(varint())), null, null, () => bytes(4)][key & 7]
    if (!read) throw new Error(`no wire type of protobuf: ${key & 7}`)
    fields.set(key >> 3, [...(fields.get(key >> 3) ?? []), read()])
  }
  return fields
}

const partsOf = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map(part => fieldsOf(part as Buffer))
const bytesOf = (fields: Fields, number: number): Buffer =>
  (fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.alloc(0)
const numberOf = (fields: Fields, number: number): number => Number(fields.get(number)?.[0] ?? 0)

/** Attributes whose values are texts (field 1) or integers (field 3). */
function attributesOf(owner: Fields, number: number): Record<string, string | number> {
  return Object.fromEntries(
    partsOf(owner, number).map(pair => {
      const [value] = partsOf(pair, 2) as [Fields]
      return [bytesOf(pair, 1).toString(), value.has(1) ? bytesOf(value, 1).toString() : numberOf(value, 3)]
    }),
  )
}

function spansOf(body: Buffer): ReceivedSpan[] {
  return partsOf(fieldsOf(body), 1).flatMap(ofResource => {
    const [resource] = partsOf(ofResource, 1) as [Fields]
    return partsOf(ofResource, 2)
      .flatMap(scope => partsOf(scope, 2))
      .map(span => ({
        traceId: bytesOf(span, 1).toString('hex'),
        spanId: bytesOf(span, 2).toString('hex'),
        parentSpanId: bytesOf(span, 4).toString('hex'),
        name: bytesOf(span, 5).toString(),
        kind: numberOf(span, 6),
        attributes: attributesOf(span, 9),
        status: partsOf(span, 15).map(status => numberOf(status, 3))[0] ?? 0,
        resource: attributesOf(resource, 1),
      }))
  })
}
