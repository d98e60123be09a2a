/**
 * Parses references: ids, and resource instances as `type:key`. The latter are split at the first colon,
 * because keys can contain further colons (native.md D-25).
 */
import type { InstanceKey } from './change.ts'

const UUID = /^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/

/**
 * Returns the id that a reference represents, as it is stored: in lower case and with hyphens. Clients can
 * omit the hyphens. Returns null if the reference is not an id.
 */
export function idFrom(reference: string): string | null {
  if (reference.length !== 36 && reference.length !== 32) return null
  const parts = UUID.exec(reference.toLowerCase())
  return parts && [parts[1], ...parts.slice(3)].join('-')
}

/** Splits `type:key`. Returns null if there is no colon, or if the type or the key is empty. */
export function parseInstanceReference(text: string): InstanceKey | null {
  const colon = text.indexOf(':')
  if (colon <= 0 || colon === text.length - 1) return null
  return { type: text.slice(0, colon), key: text.slice(colon + 1) }
}

export function formatInstanceReference(instance: InstanceKey): string {
  return `${instance.type}:${instance.key}`
}
