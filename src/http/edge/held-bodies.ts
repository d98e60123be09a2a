/**
 * Holds requests that were read, unanswered, while a server stops listening. A caller that makes a connection for each
 * request makes the next one when it has its answer. Without answers there are no new connections, so no connection is lost
 * between the kernel and the server when the port is closed.
 */
import type { Turns } from './request-turns.ts'

export class HeldBodies implements Turns {
  readonly #waiting: { readonly bytes: number; readonly share: string; readonly answer: () => void }[] = []

  begin(): boolean {
    return false
  }

  take(bytes: number, share: string, answer: () => void): void {
    this.#waiting.push({ bytes, share, answer })
  }

  /** Answers the requests in the turns that they would have had. None are added afterwards. */
  release(turns: Turns): void {
    for (const { bytes, share, answer } of this.#waiting.splice(0)) turns.take(bytes, share, answer)
  }
}
