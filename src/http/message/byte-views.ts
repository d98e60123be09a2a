/** Bodies as bytes: the forms in which they are handed on and read. Nothing here copies. */

// Imported, since the global of that name is looked up anew at each use, and every request would pay for that.
import { Buffer } from 'node:buffer'

/** A body as it is handed on: the cheapest object over its bytes. Readers that need bytes make them (`bytesOf`). */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** The same bytes. */
export function bytesOf({ buffer, byteOffset, byteLength }: DataView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** The body of a request without one, or of one that is not read. */
export const EMPTY_BODY: DataView = viewOf(Buffer.alloc(0))
