/** Ids for commits: random bytes, drawn for many at once, since asking for them costs as much for one. */
import { randomFillSync } from 'node:crypto'

const ID_BYTES = 16
const DRAWN = 256

/** Returns a new id of 16 bytes at each call. */
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
