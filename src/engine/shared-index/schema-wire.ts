/** The schema image as bytes and back: how readers in other threads come to the schema the writer compiled. */
import type { SchemaImage } from './compiled-schema.ts'

export const EMPTY_IMAGE: SchemaImage = {
  types: [],
  roles: [],
  states: [],
  transitions: [],
  lists: [0],
  derivations: [],
  relations: [],
  tenantBanks: 1,
}

export function encodeSchema(image: SchemaImage): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(image))
}

/** Null for bytes that are torn: the reader finds its sequence changed and comes again. */
export function decodeSchema(bytes: Uint8Array): SchemaImage | null {
  if (bytes.length === 0) return EMPTY_IMAGE
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as SchemaImage
  } catch {
    return null
  }
}
