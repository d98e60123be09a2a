/** Server-Sent Events, read as they come: https://html.spec.whatwg.org/multipage/server-sent-events.html, as far as this service writes them. */

export interface StreamEvent {
  readonly event: string
  /** Absent: the position stays what it was. */
  readonly id?: string
  readonly data: string
}

export class EventReader {
  readonly #decoder = new TextDecoder()
  /** What the service says a client should wait before it connects again. */
  retryMs = 1_000
  /** What has come of an event that has not ended. */
  #rest: string

  constructor() {
    this.#rest = ''
  }

  /** The events that end in what has come. */
  *read(bytes: Uint8Array): Generator<StreamEvent> {
    this.#rest += this.#decoder.decode(bytes, { stream: true })
    const blocks = this.#rest.split('\n\n')
    this.#rest = blocks.pop()!
    for (const block of blocks) {
      const event = this.#eventOf(block)
      if (event !== null) yield event
    }
  }

  /** Null for a comment. */
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
