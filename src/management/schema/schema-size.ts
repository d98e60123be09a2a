/**
 * Limits the size of a schema: actions, permissions, derivations, conditions and mapping rules, of one part
 * and of all parts together. These limits and the number of parts (docs/engine-schema.md) bound the compiled
 * schema of an environment and the work of a change. The draft of every command is checked before its commit,
 * regardless of the operation.
 *
 * The sums over all parts are stored in a separate row. A command that changes a sum writes that row, so the
 * later of two concurrent commands runs again with the new sums. An environment of an earlier release has no
 * such row until a sum changes; then all parts are counted.
 *
 * A part that already exceeds a limit, because an earlier release allowed it, may stay or become smaller.
 */
import type { WriteContext } from '#management/drafts/context.ts'
import type { Draft } from '#management/drafts/draft.ts'
import { isResumable, type Resumable } from '#scheduling/resumable.ts'
import { isBuiltInTypeKey } from '#model/built-in-types.ts'
import { AuthzError } from '#model/errors.ts'
import { jsonBytes } from '#model/text/json-text.ts'
import {
  ACTIONS_MAX,
  ACTIONS_PER_RESOURCE_MAX,
  CONDITION_BYTES_TOTAL_MAX,
  DERIVATIONS_MAX,
  MAPPING_BYTES_TOTAL_MAX,
  MAPPING_RULES_MAX,
  PERMISSIONS_MAX,
  PERMISSIONS_PER_ROLE_MAX,
} from '#model/limits.ts'
import type {
  ConditionSetRecord,
  ProxyConfigRecord,
  RoleRecord,
  SchemaSizeRecord,
  TypeRecord,
} from '#entities/records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { decodeAs } from '#store/keyspace/record-codec.ts'
import { checkExtendsReach } from '#management/schema/extends/extends-ceiling.ts'
import type { SchemaCommand } from './schema-ceilings.ts'

interface Sums extends Pick<SchemaSizeRecord, 'actions' | 'permissions' | 'derivations'> {
  readonly conditionBytes: number
  readonly mappingRules: number
  readonly mappingBytes: number
}

export interface SizeCeilings extends Sums {
  readonly actionsPerResource: number
  readonly permissionsPerRole: number
}

export const SIZE_CEILINGS: SizeCeilings = {
  actions: ACTIONS_MAX,
  actionsPerResource: ACTIONS_PER_RESOURCE_MAX,
  permissions: PERMISSIONS_MAX,
  permissionsPerRole: PERMISSIONS_PER_ROLE_MAX,
  derivations: DERIVATIONS_MAX,
  conditionBytes: CONDITION_BYTES_TOTAL_MAX,
  mappingRules: MAPPING_RULES_MAX,
  mappingBytes: MAPPING_BYTES_TOTAL_MAX,
}

/** The sums, with their names for error messages and the parts that contribute to them. */
const SUMMED: Readonly<Record<keyof Sums, { readonly what: string; readonly speakers: string }>> = {
  actions: { what: 'actions', speakers: 'all resources and roles' },
  permissions: { what: 'permissions', speakers: 'all resources and roles' },
  derivations: { what: 'derivations', speakers: 'all resources and roles' },
  conditionBytes: { what: 'bytes of conditions', speakers: 'all condition sets' },
  mappingRules: { what: 'mapping rules', speakers: 'all proxy configs' },
  mappingBytes: { what: 'bytes of mapping rules', speakers: 'all proxy configs' },
}
const SUMS = Object.keys(SUMMED) as (keyof Sums)[]
const NOTHING = sumsFrom(() => 0)

/**
 * Returns the command followed by a check that throws `LIMIT_EXCEEDED` if the resulting schema is too large.
 */
export function heldToSize<Answer>(
  command: SchemaCommand<Answer>,
  ceilings = SIZE_CEILINGS,
): (context: WriteContext) => Resumable<Answer> {
  return function* (context) {
    const result = command(context)
    const answer = isResumable(result) ? yield* result : result
    yield* checkSchemaSize(context, ceilings)
    return answer
  }
}

/**
 * Throws `LIMIT_EXCEEDED` if the resulting schema is too large. O(types and roles that the draft writes), or
 * O(schema) if the sums are not known.
 */
export function* checkSchemaSize(
  { records, newId }: Pick<WriteContext, 'records' | 'newId'>,
  ceilings = SIZE_CEILINGS,
): Resumable<void> {
  let more = NOTHING
  for (const [before, after] of records.written('type')) {
    checkPart('actions', before, after, ceilings.actionsPerResource)
    more = plus(plus(more, sumsOf(after)), sumsOf(before), -1)
    yield
  }
  for (const [before, after] of records.written('role')) {
    checkPart('permissions', before, after, ceilings.permissionsPerRole)
    more = plus(plus(more, sumsOf(after)), sumsOf(before), -1)
    yield
  }
  for (const kind of ['condition-set', 'proxy-config'] as const) {
    for (const [before, after] of records.written(kind)) {
      more = plus(plus(more, sumsOf(after)), sumsOf(before), -1)
      yield
    }
  }
  if (SUMS.some(sum => more[sum] !== 0)) {
    const known = records.get('schema-size', rowKeys.schemaSize())
    const sums = known
      ? plus(
          sumsFrom(sum => known[sum] ?? 0),
          more,
        )
      : yield* counted(records)
    for (const sum of SUMS) {
      if (more[sum] <= 0 || sums[sum] <= ceilings[sum]) continue
      const { what, speakers } = SUMMED[sum]
      const message = `${speakers} together would have ${sums[sum]} ${what}, at most ${ceilings[sum]} are possible`
      throw new AuthzError('LIMIT_EXCEEDED', message)
    }
    records.put({ kind: 'schema-size', id: known?.id ?? newId(), ...sums })
  }
  yield* checkExtendsReach(records)
}

type SizedRecord = TypeRecord | RoleRecord | ConditionSetRecord | ProxyConfigRecord

function checkPart(
  what: 'actions' | 'permissions',
  before: SizedRecord | null,
  after: SizedRecord | null,
  max: number,
): void {
  const count = sumsOf(after)[what]
  if (after === null || count <= max || count <= sumsOf(before)[what]) return
  const name = `${after.kind === 'type' ? 'resource' : 'role'} ${JSON.stringify(after.key)}`
  throw new AuthzError('LIMIT_EXCEEDED', `${name} would have ${count} ${what}, at most ${max} are possible`)
}

function sumsOf(part: SizedRecord | null): Sums {
  if (part === null) return NOTHING
  // A built-in type has no actions that callers can name. The kind is also checked, because a role may have
  // that key.
  if (part.kind === 'type' && isBuiltInTypeKey(part.key)) return NOTHING
  if (part.kind === 'type') return { ...NOTHING, actions: part.actions.length }
  if (part.kind === 'condition-set') {
    return { ...NOTHING, conditionBytes: jsonBytes(part.conditions, Number.POSITIVE_INFINITY) }
  }
  if (part.kind === 'proxy-config') {
    const { mappingRules } = part
    const mappingBytes = jsonBytes(mappingRules, Number.POSITIVE_INFINITY)
    return { ...NOTHING, mappingRules: mappingRules.length, mappingBytes }
  }
  return { ...NOTHING, permissions: part.permissions.length, derivations: part.grantedTo.entries.length }
}

function plus(sums: Sums, other: Sums, times = 1): Sums {
  return sumsFrom(sum => sums[sum] + times * other[sum])
}

function sumsFrom(of: (sum: keyof Sums) => number): Sums {
  return Object.fromEntries(SUMS.map(sum => [sum, of(sum)])) as Record<keyof Sums, number>
}

/** The sums in the state of this draft. */
function* counted(records: Draft): Resumable<Sums> {
  let sums = NOTHING
  for (const kind of ['type', 'role', 'condition-set', 'proxy-config'] as const) {
    for (const [, after] of records.written(kind)) sums = plus(sums, sumsOf(after))
    for (const row of records.storedRows(lists.all(kind))) {
      sums = plus(sums, sumsOf(decodeAs(kind, row)))
      yield
    }
  }
  return sums
}
