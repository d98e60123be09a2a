/** Writes the head of a response to the wire. */
import { type Answer, JSON_TYPE } from '#http/message/answer.ts'
import { REASON_PHRASES } from '#http/message/reason-phrases.ts'
import { type RequestId, RequestIds } from '#http/message/request-id.ts'
import type { Wire } from './wire.ts'

const REQUEST_ID = 'X-Request-ID'
/**
 * Contains two header lines, so that one call of `writeHeader` writes both. The HTTP library writes a header
 * name unchanged, and each call takes 2% of the time of a decision.
 */
const JSON_TYPE_AND_REQUEST_ID = `Content-Type: ${JSON_TYPE}\r\n${REQUEST_ID}`
const JSON_TYPE_AND_REQUEST_ID_BYTES = Buffer.from(JSON_TYPE_AND_REQUEST_ID)
/**
 * Status, headers and separator before the request ID in the head of most responses. The HTTP library also
 * writes the status text unchanged. A single call therefore writes the whole head.
 */
const USUAL_HEAD = `200 OK\r\n${JSON_TYPE_AND_REQUEST_ID}: `

/**
 * Creates the generator of request IDs for a server. Each ID is stored after the usual head, so that both are
 * written together.
 */
export function requestIds(): RequestIds {
  return new RequestIds(USUAL_HEAD)
}

/**
 * Writes the head of a response without the content length, which the HTTP library writes with the body. The
 * request ID comes from `requestIds()` or from the client. `endsConnection`: the client sent `Connection:
 * close`. In this case the library closes the connection but does not write the header, so this function
 * writes it.
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
