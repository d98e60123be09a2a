/**
 * Parser for Server-Sent Events, limited to the features that this service uses:
 * https://html.spec.whatwg.org/multipage/server-sent-events.html.
 */

export interface StreamEvent {
  readonly event: string
  /** Position in the stream after this event. If absent, this event does not change the position. */
  readonly id?: string
  readonly data: string
}

export class EventReader {
  readonly #decoder = new TextDecoder()
  /** Time in milliseconds that a client must wait before it reconnects. The service can change it. */
  retryMs = 1_000
  /** Received text of the last event, which is incomplete. */
  #rest: string

  constructor() {
    this.#rest = ''
  }

  /** Yields the events that are completed by these bytes. */
  *read(bytes: Uint8Array): Generator<StreamEvent> {
    this.#rest += this.#decoder.decode(bytes, { stream: true })
    const blocks = this.#rest.split('\n\n')
    this.#rest = blocks.pop()!
    for (const block of blocks) {
      const event = this.#eventOf(block)
      if (event !== null) yield event
    }
  }

  /** Parses one event. Returns null for a comment. */
  #eventOf(block: string): StreamEvent | null {
    let [event, data, id]: [string, string | null, string | null] = ['message', null, null]
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':')
      const value = line.slice(colon + 1).replace(/^ /u, '')
      const field = line.slice(0, Math.max(0, colon))
      if (field === 'event') event = value
      else if (field === 'data') data = data === null ? value : `${data}\n${value}`
      else if (field === 'id') id = value
      else if (field === 'retry') this.retryMs = Number(value)
    }
    return data === null ? null : { event, data, ...(id !== null && { id }) }
  }
}
