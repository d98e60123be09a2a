/**
 * Computes the encoded size of values in msgpack, according to its specification. Supports only values that
 * are no longer than the attributes of the datasets.
 */
export function msgpackBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + (Buffer.byteLength(value) < 32 ? 1 : 2)
  if (typeof value === 'number') return value < 128 ? 1 : value < 256 ? 2 : value < 65_536 ? 3 : 5
  if (typeof value === 'boolean' || value === null) return 1
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + msgpackBytes(each), 1)
  return Object.entries(value as object).reduce(
    (sum, [name, member]) => sum + msgpackBytes(name) + msgpackBytes(member),
    1,
  )
}

/** Maximum memory in bytes of an entity with attributes, in addition to the attributes themselves. */
export const OWNER_BYTES = 16
