/**
 * What others change appears: reads the environment's stream of changes, and says of each what kind of thing it was about. Goes on where
 * it stopped. The stream needs a header, which `EventSource` cannot send.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { send, SERVICE } from './client.ts'

/** How long after a stream that broke another one is tried, at most. */
const RETRY_MS_MAX = 30_000
const RETRY_MS = 1000

export type LiveState = 'connecting' | 'live' | 'off'

/**
 * Follows the changes of an environment until `signal` ends it. `onChange` gets the noun of what changed (`role_assignment`); null: more
 * may have changed than can be told. `off`: the service gives this key no stream, and is not asked again.
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
        // What changed while nothing was read.
        if (last === undefined) onChange(null)
        const events = response.body
          .pipeThrough(new TextDecoderStream())
          .pipeThrough(new EventSourceParserStream())
        // Not `for await`: Safari's streams cannot.
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
      // A service that is away, or a connection that breaks: both come back.
      if (signal.aborted) return
    }
    onState('connecting')
    await pause(waitMs, signal)
    waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)
  }
}

/** Ends early where `signal` does. */
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
