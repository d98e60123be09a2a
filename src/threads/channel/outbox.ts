/**
 * Messages to another thread. Those of one turn of the event loop go as one: to wake the other thread, and to be woken, costs
 * several times what a message does.
 */
import type { Transferable } from 'node:worker_threads'

interface Port<Message> {
  postMessage(messages: readonly Message[], moved: readonly Transferable[]): void
}

export class Outbox<Message> {
  readonly #port: Port<Message>
  #messages: Message[] = []
  #moved: Transferable[] = []

  constructor(port: Port<Message>) {
    this.#port = port
  }

  /** Sends it at the end of this turn, behind what was sent before. What is in `moved` changes hands and is not copied. */
  send(message: Message, moved: readonly Transferable[] = []): void {
    if (this.#messages.push(message) === 1) setImmediate(() => this.#post())
    this.#moved.push(...moved)
  }

  /** Sends it now. */
  sendNow(message: Message): void {
    this.#messages.push(message)
    this.#post()
  }

  #post(): void {
    if (this.#messages.length === 0) return
    const [messages, moved] = [this.#messages, this.#moved]
    this.#messages = []
    this.#moved = []
    this.#port.postMessage(messages, moved)
  }
}
