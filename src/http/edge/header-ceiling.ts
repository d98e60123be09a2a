/**
 * How long the head of a request may be: the request line and all headers. The HTTP library takes that from the environment of
 * the process, once, when the first thread loads it, which is when that listens; so nothing here may load it.
 */

const VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE'

/** Called in the main thread before the others start: a thread's own environment is a copy that the library does not see. */
export function limitHeaderBytes(bytesMax: number): void {
  process.env[VARIABLE] = String(bytesMax)
}
