/**
 * Limits the size of free-form JSON in a record: its attributes or settings. This also bounds responses,
 * pages, exports and rows. Every record that is written is checked, regardless of the operation. Stored
 * values are not checked: an older release may have stored larger ones, and it must be possible to read them,
 * to change other fields, and to make them smaller.
 */
import type { Attributes } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { jsonBytes } from '#model/text/json-text.ts'
import { RESOURCE_ATTRIBUTES_FACTOR } from '#model/limits.ts'
import type { StoredRecord, TypeRecord } from '#entities/records.ts'

/** A free-form part of a record, and its name for error messages. */
type FreeJson = readonly [what: string, json: Attributes | null]

const NONE: readonly FreeJson[] = []

/**
 * Throws `LIMIT_EXCEEDED` if a changed part of `record` has more than `bytesMax` bytes, or if all parts of a
 * resource type together exceed a multiple of `bytesMax`. `before` is the record before the change. O(changed
 * parts), or O(parts) for a resource type.
 */
export function checkAttributes(record: StoredRecord, before: StoredRecord | null, bytesMax: number): void {
  const parts = freeJsonOf(record)
  if (parts === NONE) return
  const known = new Set(before && freeJsonOf(before).map(([, json]) => json))
  const changed = parts.filter(([, json]) => json !== null && !known.has(json))
  for (const [what, json] of changed) {
    if (jsonBytes(json, bytesMax) > bytesMax) throw tooLarge(what, bytesMax)
  }
  if (record.kind !== 'type' || changed.length === 0) return
  const sumMax = RESOURCE_ATTRIBUTES_FACTOR * bytesMax
  const sum = sumOf(parts, sumMax)
  if (sum <= sumMax || (before !== null && sum <= sumOf(freeJsonOf(before), sum))) return
  throw tooLarge(`resource ${JSON.stringify(record.key)} and its parts`, sumMax)
}

function freeJsonOf(record: StoredRecord): readonly FreeJson[] {
  switch (record.kind) {
    case 'type':
      return freeJsonOfType(record)
    case 'role':
    case 'tenant':
    case 'user':
    case 'instance':
      return [[nameOf(record.kind, record.key), record.attributes]]
    case 'project':
      return [[`${nameOf(record.kind, record.key)} (settings)`, record.settings]]
    case 'environment':
      return [
        [`${nameOf(record.kind, record.key)} (settings)`, record.settings],
        [`${nameOf(record.kind, record.key)} (jwks)`, record.jwks],
      ]
    default:
      return NONE
  }
}

function freeJsonOfType({ key, typeAttributes, actions, actionGroups }: TypeRecord): readonly FreeJson[] {
  const at = nameOf('resource', key)
  return [
    [at, typeAttributes],
    ...actions.map(action => [`${nameOf('action', action.key)} of ${at}`, action.attributes] as const),
    ...actionGroups.map(
      group => [`${nameOf('action group', group.key)} of ${at}`, group.attributes] as const,
    ),
  ]
}

function nameOf(kind: string, key: string): string {
  return `${kind} ${JSON.stringify(key)}`
}

/** Total bytes of the parts, or some number greater than `sumMax` as soon as the sum exceeds it. */
function sumOf(parts: readonly FreeJson[], sumMax: number): number {
  let sum = 0
  for (const [, json] of parts) {
    if (json !== null) sum += jsonBytes(json, sumMax - sum)
    if (sum > sumMax) break
  }
  return sum
}

function tooLarge(what: string, bytesMax: number): AuthzError {
  const message = `the attributes of ${what} would exceed ${bytesMax} bytes as JSON (MAX_ATTRIBUTES_BYTES)`
  return new AuthzError('LIMIT_EXCEEDED', message, { limit: 'attributes' })
}
