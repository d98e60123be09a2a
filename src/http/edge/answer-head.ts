/** Writes the head of an answer to the wire. */
import { type Answer, JSON_TYPE } from '#http/message/answer.ts'
import { REASON_PHRASES } from '#http/message/reason-phrases.ts'
import { type RequestId, RequestIds } from '#http/message/request-id.ts'
import type { Wire } from './wire.ts'

const REQUEST_ID = 'X-Request-ID'
/** Two headers in one call: the library writes names as they are, and each call costs a fiftieth of a decision. */
const JSON_TYPE_AND_REQUEST_ID = `Content-Type: ${JSON_TYPE}\r\n${REQUEST_ID}`
const JSON_TYPE_AND_REQUEST_ID_BYTES = Buffer.from(JSON_TYPE_AND_REQUEST_ID)
/**
 * What comes before the id in the head of most answers. It is then one text for one call, since the library writes the
 * status as it is, too.
 */
const USUAL_HEAD = `200 OK\r\n${JSON_TYPE_AND_REQUEST_ID}: `

/** Makes the ids of a server in the form in which they end a head. */
export function requestIds(): RequestIds {
  return new RequestIds(USUAL_HEAD)
}

/**
 * Everything but the length, which comes with the body. The id is one of `requestIds()`, or sent by the caller. `endsConnection`:
 * the caller sent `Connection: close`; the library closes but does not echo the header, so it is written here.
 */
export function writeHead(
  wire: Wire,
  { status, contentType, body, pieces, live, headers }: Answer,
  requestId: RequestId,
  endsConnection: boolean,
): void {
  const hasBody = body !== null || pieces !== null || live !== null
  const isJson = hasBody && contentType === JSON_TYPE
  const usual = isJson && status === 200 ? requestId.prefixed : null
  if (usual !== null) wire.writeStatus(usual)
  else {
    if (status !== 200) wire.writeStatus(`${status} ${REASON_PHRASES[status] ?? ''}`)
    wire.writeHeader(isJson ? JSON_TYPE_AND_REQUEST_ID_BYTES : REQUEST_ID, requestId.written)
    if (hasBody && !isJson) wire.writeHeader('Content-Type', contentType)
  }
  if (endsConnection) wire.writeHeader('Connection', 'close')
  if (headers === undefined) return
  for (const name in headers) wire.writeHeader(name, headers[name]!)
}
