/** Events as the stream has them (Server-Sent Events): texts, since several are joined before they become bytes. */
import { formatRevision } from '#model/revision.ts'
import type { ResetReason, StreamEnd } from '#model/wire/change-event.ts'
import type { ToldChange } from './change-events.ts'
import { formatPosition, type StreamPosition } from './stream-position.ts'

/** How long a client should wait before it connects again, in milliseconds. */
const RETRY_MS = 1_000

export const HEARTBEAT_TEXT = ': heartbeat\n\n'

/**
 * Without its end, which says whether it is the last of its commit. That is known when the next event of the same reader comes, or the end
 * of the commit: until then the reader has the event without its end.
 */
export function textOfChange({ noun, verb, json }: ToldChange): string {
  return `event: ${noun}.${verb}\ndata: ${json()}\n`
}

export const END_OF_EVENT = '\n'

export function endOfCommit(position: StreamPosition): string {
  return `id: ${formatPosition(position)}\n\n`
}

/** Before a reset it has no id: whoever stops between the two must hear of the reset again. */
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

/** The last of a stream. Has no id: whoever goes on does so behind the last one. */
export function endText(event: StreamEnd, reason: string): string {
  return `event: ${event}\nretry: ${RETRY_MS}\ndata: ${JSON.stringify({ reason })}\n\n`
}

function eventText(event: string, data: object, position: StreamPosition): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n${endOfCommit(position)}`
}
