/**
 * References to resource instances in text: `type:key`, split at the first colon, since keys may contain more (contract
 * D-25).
 */
import type { InstanceKey } from './change.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a reference may be an id at all. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text)
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
