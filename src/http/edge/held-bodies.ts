/**
 * Holds complete requests without answering them while a server stops listening. A client that opens a
 * connection for each request opens the next one after it has its response. Without responses there are no
 * new connections, so no connection between the kernel and the server is lost when the port is closed.
 */
import type { RequestScheduler } from './request-scheduler.ts'

export class HeldBodies implements RequestScheduler {
  readonly #waiting: { readonly bytes: number; readonly share: string; readonly answer: () => void }[] = []

  begin(): boolean {
    return false
  }

  take(bytes: number, share: string, answer: () => void): void {
    this.#waiting.push({ bytes, share, answer })
  }

  /** Processes the held requests in the order that `turns` determines. No requests are added afterwards. */
  release(scheduler: RequestScheduler): void {
    for (const { bytes, share, answer } of this.#waiting.splice(0)) scheduler.take(bytes, share, answer)
  }
}
