/** The head of an answer, as the HTTP library is told it. */
import { STATUS_CODES } from 'node:http'
import { type Answer, JSON_TYPE } from './answer.ts'
import type { Wire } from './wire.ts'

const REQUEST_ID = 'X-Request-ID'
/** Two headers for one call: the library writes names as they are, and each call costs a fiftieth of a decision. */
const JSON_TYPE_AND_REQUEST_ID = Buffer.from(`Content-Type: ${JSON_TYPE}\r\n${REQUEST_ID}`)

/** Everything but the length, which comes with the body. `requestId` has been found to be one header's value. */
export function writeHead(
  wire: Wire,
  { status, contentType, body, pieces, headers }: Answer,
  requestId: string | Uint8Array,
): void {
  if (status !== 200) wire.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`)
  const hasBody = body !== null || pieces !== null
  if (hasBody && contentType === JSON_TYPE) wire.writeHeader(JSON_TYPE_AND_REQUEST_ID, requestId)
  else {
    wire.writeHeader(REQUEST_ID, requestId)
    if (hasBody) wire.writeHeader('Content-Type', contentType)
  }
  if (headers === undefined) return
  for (const name in headers) wire.writeHeader(name, headers[name]!)
}
