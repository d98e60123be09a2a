/**
 * Follows the change stream of the environment, so that the page shows changes by other users. Reports which
 * kind of entity each change affects. After an interruption, the stream continues after the last received
 * event. `EventSource` cannot be used, because it cannot send the authorization header.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { SERVICE } from './base-url.ts'
import { send } from './client.ts'

/** Maximum delay before a reconnection attempt. */
const RETRY_MS_MAX = 30_000
const RETRY_MS = 1000

export type LiveState = 'connecting' | 'live' | 'off'

/**
 * Follows the changes in an environment until `signal` aborts. `onChange` is called with the kind of the
 * changed entity (such as `role_assignment`), or with null if changes might have been missed. The state `off`
 * means that the service does not give this key a stream. No further attempt is made then.
 */
export async function followChanges(
  { project, environment }: { readonly project: string; readonly environment: string },
  {
    signal,
    onChange,
    onState,
  }: {
    readonly signal: AbortSignal
    readonly onChange: (noun: string | null) => void
    readonly onState: (state: LiveState) => void
  },
): Promise<void> {
  const address = `${SERVICE}/v2/facts/${encodeURIComponent(project)}/${encodeURIComponent(environment)}/changes`
  let last: string | undefined
  let waitMs = RETRY_MS
  onState('connecting')
  while (!signal.aborted) {
    try {
      const response = await send(
        new Request(address, { signal, headers: last === undefined ? {} : { 'Last-Event-ID': last } }),
      )
      if (response.status >= 400 && response.status < 500 && response.status !== 429) return onState('off')
      if (response.ok && response.body !== null) {
        onState('live')
        // Changes that were made before the stream was opened are unknown.
        if (last === undefined) onChange(null)
        const events = response.body
          .pipeThrough(new TextDecoderStream())
          .pipeThrough(new EventSourceParserStream())
        // `for await` is not used, because streams in Safari do not support it.
        const reader = events.getReader()
        for (let read = await reader.read(); !read.done; read = await reader.read()) {
          const { event = '', id } = read.value
          waitMs = RETRY_MS
          last = id ?? last
          if (event === 'snapshot') continue
          onChange(event === 'reset' ? null : (event.split('.', 1)[0] ?? null))
        }
      }
    } catch {
      // The service is unavailable or the connection was interrupted. The loop connects again.
      if (signal.aborted) return
    }
    onState('connecting')
    await pause(waitMs, signal)
    waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)
  }
}

/** Waits for the given time, or until `signal` aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
