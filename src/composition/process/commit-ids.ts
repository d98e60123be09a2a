/**
 * Creates commit ids from random bytes. The bytes are drawn in batches, because a single draw costs as much
 * as a batch.
 */
import { randomFillSync } from 'node:crypto'

const ID_BYTES = 16
const DRAWN = 256

/** Returns a function that returns a new 16-byte id for each call. */
export function commitIds(): () => Uint8Array {
  const stock = new Uint8Array(DRAWN * ID_BYTES)
  let at = stock.length
  return () => {
    if (at === stock.length) {
      randomFillSync(stock)
      at = 0
    }
    at += ID_BYTES
    return stock.slice(at - ID_BYTES, at)
  }
}
