/**
 * Sends messages to another thread. All messages of one event-loop iteration are sent as one, because waking
 * another thread costs several times as much as a message.
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

  /**
   * Sends the message at the end of this event-loop iteration, after earlier messages. Objects in `moved` are
   * transferred and not copied.
   */
  send(message: Message, moved: readonly Transferable[] = []): void {
    if (this.#messages.push(message) === 1) setImmediate(() => this.#post())
    this.#moved.push(...moved)
  }

  /** Sends the message immediately. */
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
