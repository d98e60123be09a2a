/**
 * Checks the conditions of a set before they are stored, and rejects those that could never be true
 * (conditions.md 3.4).
 */
import type { Condition } from '#conditions/condition.ts'
import { type DeclaredType, findMisfits } from '#conditions/declared-types.ts'
import type { Path, Root } from '#conditions/values/paths.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { TENANT_TYPE_KEY, USER_TYPE_KEY } from '#model/built-in-types.ts'
import { AuthzError, type ErrorDetail } from '#model/errors.ts'
import type { TypeRecord } from '#entities/records.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'

/** The built-in types that declare the attributes of the roots. */
const CARRIERS: Partial<Record<Root, string>> = { user: USER_TYPE_KEY, tenant: TENANT_TYPE_KEY }

/**
 * Throws `INVALID_SHAPE` with the location of each finding, unless the conditions can be stored data. Older
 * releases stored integers that no double represents, and read them as doubles. Such conditions evaluate to
 * unknown. O(size).
 */
export function checkStored(conditions: unknown, at: ErrorDetail['loc']): void {
  checkReadable(JSON.parse(JSON.stringify(conditions)), at)
}

function checkReadable(conditions: unknown, at: ErrorDetail['loc']): Condition {
  const read = readCondition(conditions, at)
  if (isRefused(read)) throw refused(read.findings)
  return read
}

/**
 * Throws `INVALID_SHAPE` with the location of each finding. `at` is the location of the conditions, and
 * `type` the resource type to which the set is limited. O(size).
 */
export function checkConditions(
  records: RecordReader,
  conditions: unknown,
  type: TypeRecord | null,
  at: ErrorDetail['loc'],
): void {
  const read = checkReadable(conditions, at)
  // Each root is looked up once, and not for each test.
  const declared = new Map<Root, ReadonlyMap<string, DeclaredType> | null>()
  const declaredOf = (root: Root) => {
    const known = declared.get(root)
    if (known !== undefined) return known
    const carrier = root === 'resource' ? type : carrierOf(records, root)
    const types = carrier && new Map(carrier.attributes.map(each => [each.key, each.type]))
    declared.set(root, types)
    return types
  }
  const misfits = findMisfits(read, ({ root, names }: Path) => declaredOf(root)?.get(names[0]!) ?? null)
  if (misfits.length > 0) throw refused(misfits)
}

function carrierOf(records: RecordReader, root: Root): TypeRecord | null {
  const key = CARRIERS[root]
  return key === undefined ? null : records.get('type', rowKeys.type(key))
}

function refused(detail: readonly ErrorDetail[]): AuthzError {
  const message = detail.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ')
  return new AuthzError('INVALID_SHAPE', message, { detail })
}
