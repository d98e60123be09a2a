/** Text of the events of a stream (Server-Sent Events). Texts are joined before they are encoded. */
import { formatRevision } from '#model/revision.ts'
import type { ResetReason, StreamEnd } from '#entities/change-event.ts'
import type { SourceEvent } from './change-events.ts'
import { formatPosition, type StreamPosition } from './stream-position.ts'

/** How long a client should wait before it reconnects, in milliseconds. */
const RETRY_MS = 1_000

export const HEARTBEAT_TEXT = ': heartbeat\n\n'

/**
 * Text of an event without its final line. That line depends on whether the event is the last of its commit,
 * which is known only when the reader's next event or the end of the commit arrives. Until then, the event is
 * sent without it.
 */
export function textOfChange({ noun, verb, json }: SourceEvent): string {
  return `event: ${noun}.${verb}\ndata: ${json()}\n`
}

export const END_OF_EVENT = '\n'

export function endOfCommit(position: StreamPosition): string {
  return `id: ${formatPosition(position)}\n\n`
}

/**
 * A snapshot before a reset has no id, so that a client that disconnects between the two receives the reset
 * again.
 */
export function snapshotText(position: StreamPosition, isBeforeReset: boolean): string {
  const data = JSON.stringify({ revision: formatRevision(position) })
  return `retry: ${RETRY_MS}\nevent: snapshot\ndata: ${data}\n${isBeforeReset ? END_OF_EVENT : endOfCommit(position)}`
}

export function positionText(position: StreamPosition): string {
  return eventText('position', { revision: formatRevision(position) }, position)
}

export function resetText(position: StreamPosition, reason: ResetReason): string {
  return eventText('reset', { revision: formatRevision(position), reason }, position)
}

/** Final event of a stream. It has no id, so that clients resume after the last id. */
export function endText(event: StreamEnd, reason: string): string {
  return `event: ${event}\nretry: ${RETRY_MS}\ndata: ${JSON.stringify({ reason })}\n\n`
}

function eventText(event: string, data: object, position: StreamPosition): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n${endOfCommit(position)}`
}
