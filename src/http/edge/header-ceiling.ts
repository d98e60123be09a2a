/**
 * Limits the length of a request head: the request line and all headers. The HTTP library reads the limit
 * from the environment of the process once, when the first thread starts to listen and loads it. Therefore
 * this file must not load the library.
 */

const VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE'

/**
 * Must be called in the main thread before other threads start: each thread has its own copy of the
 * environment, which the library does not read.
 */
export function limitHeaderBytes(bytesMax: number): void {
  process.env[VARIABLE] = String(bytesMax)
}
