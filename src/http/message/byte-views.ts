/** Conversions between the forms in which bodies are passed and read. Nothing in this file copies bytes. */

// Imported because V8 looks up a global at each use, which would cost time in every request.
import { Buffer } from 'node:buffer'

/**
 * A body in the form in which it is passed: a `DataView`, the cheapest object over bytes. Readers convert it
 * if they need a `Buffer` (`bytesOf`).
 */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** The same bytes as a `Buffer`. */
export function bytesOf({ buffer, byteOffset, byteLength }: DataView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Body of a request that has none, or whose body is not read. */
export const EMPTY_BODY: DataView = viewOf(Buffer.alloc(0))
