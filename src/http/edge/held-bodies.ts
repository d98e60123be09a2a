/**
 * Holds complete requests without answering them while a server stops listening. A client that uses one
 * connection per request opens its next connection after it has received a response. While no responses are
 * sent, such clients open no connections. Therefore no new connection is lost when the port is closed.
 */
import type { ArrivalScheduler } from './arrival-scheduler.ts'

export class HeldBodies implements ArrivalScheduler {
  readonly #waiting: { readonly bytes: number; readonly share: string; readonly answer: () => void }[] = []

  begin(): boolean {
    return false
  }

  take(bytes: number, share: string, answer: () => void): void {
    this.#waiting.push({ bytes, share, answer })
  }

  /** Passes the held requests to `scheduler`, which processes them. No requests are added after this call. */
  release(scheduler: ArrivalScheduler): void {
    for (const { bytes, share, answer } of this.#waiting.splice(0)) scheduler.take(bytes, share, answer)
  }
}
