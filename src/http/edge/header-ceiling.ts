/**
 * Limits the length of a request head, which consists of the request line and all headers. The HTTP library
 * reads the limit from the environment variables of the process once, when the first thread loads the library
 * in order to listen. Therefore this file must not load the library.
 */

const VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE'

/**
 * Sets the limit. Must be called in the main thread before any thread loads the library. A change in another
 * thread has no effect, because it changes only the copy of the environment variables of that thread.
 */
export function limitHeaderBytes(bytesMax: number): void {
  process.env[VARIABLE] = String(bytesMax)
}
