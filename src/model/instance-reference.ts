/**
 * References in text: ids, and resource instances as `type:key`, split at the first colon, since keys may
 * contain more (native.md D-25).
 */
import type { InstanceKey } from './change.ts'

const UUID = /^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/

/** The id that a reference may be, as ids are stored: in lower case, with hyphens. Clients may omit these. Null: it cannot be an id. */
export function idFrom(reference: string): string | null {
  if (reference.length !== 36 && reference.length !== 32) return null
  const parts = UUID.exec(reference.toLowerCase())
  return parts && [parts[1], ...parts.slice(3)].join('-')
}

/** Splits `type:key`; null when there is no colon or a side is empty. */
export function parseInstanceReference(text: string): InstanceKey | null {
  const colon = text.indexOf(':')
  if (colon <= 0 || colon === text.length - 1) return null
  return { type: text.slice(0, colon), key: text.slice(colon + 1) }
}

export function formatInstanceReference(instance: InstanceKey): string {
  return `${instance.type}:${instance.key}`
}
