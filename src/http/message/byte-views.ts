/**
 * Conversions between the objects that represent the bytes of a body. No function in this file copies bytes.
 */

// This import avoids a lookup: V8 looks up the global `Buffer` at each use, which would cost time in every
// request.
import { Buffer } from 'node:buffer'

/**
 * Converts a body to a `DataView`. Bodies are passed in this form because it is the cheapest object over
 * bytes. Readers that need a `Buffer` use `bytesOf`.
 */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** The same bytes as a `Buffer`. */
export function bytesOf({ buffer, byteOffset, byteLength }: DataView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Empty body, for a request that has no body or whose body is not read. */
export const EMPTY_BODY: DataView = viewOf(Buffer.alloc(0))

/**
 * Frees the memory of bytes that are not needed any more, if they are the whole of their buffer. Otherwise
 * the memory would remain until a garbage collection, and garbage outside of the heap causes full collections
 * of the thread. The bytes must not be used afterwards.
 */
export function freeMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
