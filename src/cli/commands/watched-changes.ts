/**
 * Reads the change stream of an environment. If the connection ends, it is opened again, unless the service
 * rejects the request.
 */
import { EventReader, type StreamEvent } from '#cli/session/event-stream.ts'
import { ApiError, RefusedError } from '#cli/session/exit-codes.ts'
import type { HttpApi } from '#cli/session/http-api.ts'

const PAUSE_MS = 250
const PAUSE_MS_MAX = 10_000

export interface Watching {
  /** Path of the stream, without `since`. */
  readonly path: string
  readonly query: URLSearchParams
  /** Revision after which the stream starts. If null, the stream starts with the next change. */
  readonly since: string | null
  /** Called after the connection has ended, before it is opened again. */
  onLost(reason: string): void
}

/**
 * Yields the events of the stream. Throws `RefusedError` if the request is invalid, and `ApiError` if the
 * first connection fails.
 */
export async function* watchedChanges(
  api: HttpApi,
  { path, query, since, onLost }: Watching,
): AsyncGenerator<StreamEvent> {
  let lastId = since
  let pauseMs = PAUSE_MS
  for (let isFirst = true; ; isFirst = false) {
    const reader = new EventReader()
    const asked = new URLSearchParams(query)
    if (lastId !== null) asked.set('since', lastId)
    let reason = 'the stream ended'
    try {
      for await (const bytes of api.stream(`${path}?${asked}`)) {
        pauseMs = PAUSE_MS
        isFirst = false
        for (const event of reader.read(bytes)) {
          lastId = event.id ?? lastId
          yield event
        }
      }
    } catch (error) {
      if (!(error instanceof ApiError) || error instanceof RefusedError || isFirst) throw error
      reason = error.message
    }
    onLost(reason)
    const waitMs = Math.max(pauseMs, reader.retryMs)
    await new Promise(resolve => setTimeout(resolve, waitMs))
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
  }
}
