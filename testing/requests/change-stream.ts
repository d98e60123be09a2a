/** Client of the change stream of an environment, over HTTP. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { EventReader, type StreamEvent } from '#cli/session/event-stream.ts'

/** An event with its parsed data. */
export interface ReadEvent extends StreamEvent {
  // Tests define the expected data.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly value: any
}

export interface StreamOptions {
  readonly query?: string
  readonly lastEventId?: string | undefined
  readonly key?: string
  readonly path?: string
}

const CHANGES = '/v2/facts/default/default/changes'

export class ChangeStream {
  readonly response: IncomingMessage
  readonly #request: ClientRequest
  readonly #events: ReadEvent[] = []
  #wake: (() => void) | null = null
  #isOver = false
  /** Id of the last event. */
  lastId: string | undefined

  /** Opens a stream. If the request is rejected, resolves to the status and the body. */
  static async open(
    address: string,
    { query = '', lastEventId, key = 'environment-key-of-the-tests', path = CHANGES }: StreamOptions = {},
  ): Promise<ChangeStream | { readonly status: number; readonly body: string }> {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    }
    const sent = request(`${address}${path}${query}`, { headers, agent: false })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.on('response', resolve)
      sent.on('error', reject)
      sent.end()
    })
    if (response.statusCode !== 200) return { status: response.statusCode!, body: await text(response) }
    return new ChangeStream(sent, response)
  }

  /** Opens a stream. Throws if the request is rejected. */
  static async opened(address: string, options: StreamOptions = {}): Promise<ChangeStream> {
    const opened = await ChangeStream.open(address, options)
    if (opened instanceof ChangeStream) return opened
    throw new Error(`no stream: ${opened.status} ${opened.body}`)
  }

  private constructor(sent: ClientRequest, response: IncomingMessage) {
    this.#request = sent
    this.response = response
    const reader = new EventReader()
    response.on('data', (bytes: Uint8Array) => {
      for (const event of reader.read(bytes)) {
        this.#events.push({ ...event, value: JSON.parse(event.data) as unknown })
      }
      this.#wake?.()
    })
    const over = (): void => {
      this.#isOver = true
      this.#wake?.()
    }
    response.on('end', over)
    response.on('close', over)
    response.on('error', over)
    sent.on('error', over)
  }

  /** Returns the next event, or null if the stream has ended. */
  async next(): Promise<ReadEvent | null> {
    for (;;) {
      const event = this.#events.shift()
      if (event) {
        this.lastId = event.id ?? this.lastId
        return event
      }
      if (this.#isOver) return null
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  /** Returns the events up to the first one for which `isLast` is true. Throws if the stream ends before. */
  async until(isLast: (event: ReadEvent) => boolean): Promise<ReadEvent[]> {
    const events: ReadEvent[] = []
    for (;;) {
      const event = await this.next()
      if (event === null) throw new Error(`the stream ended after the event ${JSON.stringify(events.at(-1))}`)
      events.push(event)
      if (isLast(event)) return events
    }
  }

  /** Returns the events up to the commit with this revision, as contained in a management response. */
  upTo(revision: string): Promise<ReadEvent[]> {
    const wanted = Number(revision.split('.')[1])
    return this.until(({ id }) => id !== undefined && Number(id.split('.')[1]) >= wanted)
  }

  /** Stops reading from the connection until it is resumed. */
  pause(): void {
    this.response.pause()
  }

  close(): void {
    this.#request.destroy()
  }
}
