/**
 * References as text: ids, and resource instances as `type:key`, split at the first colon, because keys can
 * contain more (native.md D-25).
 */
import type { InstanceKey } from './change.ts'

const UUID = /^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/

/**
 * The id that a reference represents, in stored form: in lower case, with hyphens. Clients can omit the
 * hyphens. Null if it is not an id.
 */
export function idFrom(reference: string): string | null {
  if (reference.length !== 36 && reference.length !== 32) return null
  const parts = UUID.exec(reference.toLowerCase())
  return parts && [parts[1], ...parts.slice(3)].join('-')
}

/** Splits `type:key`; null if there is no colon or a side is empty. */
export function parseInstanceReference(text: string): InstanceKey | null {
  const colon = text.indexOf(':')
  if (colon <= 0 || colon === text.length - 1) return null
  return { type: text.slice(0, colon), key: text.slice(colon + 1) }
}

export function formatInstanceReference(instance: InstanceKey): string {
  return `${instance.type}:${instance.key}`
}
