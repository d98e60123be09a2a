/**
 * Limits the number of parts of a schema, including condition sets, rules and proxy configs. The parts of one
 * resource type must fit into one removal, which is one commit. All parts together must fit into an index and
 * the compiled schema. The draft of every command is checked before its commit, regardless of the operation.
 *
 * Lists are not a requirement of a commit. Therefore, a command that adds a part also writes the row of the
 * schema. If two commands add parts concurrently, the later one gets a conflict, runs again, and counts the
 * parts of the earlier one.
 */
import type { WriteContext } from '#management/drafts/context.ts'
import type { Draft } from '#management/drafts/draft.ts'
import { isResumable, type Resumable } from '#scheduling/resumable.ts'
import { isBuiltInTypeKey } from '#model/built-in-types.ts'
import { AuthzError } from '#model/errors.ts'
import {
  CONDITION_SETS_MAX,
  PARTS_PER_RESOURCE_MAX,
  PROXY_CONFIGS_MAX,
  RELATIONS_MAX,
  RESOURCES_MAX,
  ROLES_MAX,
  RULES_MAX,
  RULES_PER_ACTION_MAX,
  TENANT_ROLES_MAX,
} from '#model/limits.ts'
import type { RuleRecord, StoredRecord } from '#entities/records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'

export interface SchemaCeilings {
  readonly resources: number
  /** All roles of an environment, including tenant roles. */
  readonly roles: number
  readonly tenantRoles: number
  readonly relations: number
  /** Maximum each for the roles of a resource type, the relations to it and the relations from it. */
  readonly partsPerResource: number
  readonly conditionSets: number
  readonly rules: number
  readonly rulesPerAction: number
  readonly proxyConfigs: number
}

export const SCHEMA_CEILINGS: SchemaCeilings = {
  resources: RESOURCES_MAX,
  roles: ROLES_MAX,
  tenantRoles: TENANT_ROLES_MAX,
  relations: RELATIONS_MAX,
  partsPerResource: PARTS_PER_RESOURCE_MAX,
  conditionSets: CONDITION_SETS_MAX,
  rules: RULES_MAX,
  rulesPerAction: RULES_PER_ACTION_MAX,
  proxyConfigs: PROXY_CONFIGS_MAX,
}

/**
 * Makes the commit fail if another command has added a part to the schema, or changed the parent of a
 * condition set, in the meantime. Call it before reading the lists of parts by which the command
 * decides.
 */
export function requireNoneAdded({ records }: Pick<WriteContext, 'records'>): void {
  const schema = records.get('schema', rowKeys.schema())
  if (schema !== null) records.requireUnchanged(schema)
}

/** Causes a conflict for commands that have called `requireNoneAdded`. */
export function noteAdded({ records, newId }: Pick<WriteContext, 'records' | 'newId'>): void {
  records.put(records.get('schema', rowKeys.schema()) ?? { kind: 'schema', id: newId() })
}

export type SchemaCommand<Answer> = (context: WriteContext) => Answer | Resumable<Answer>

/** Returns the command followed by a check of everything that it has written. The check can reject it. */
export function lookedAt<Answer>(
  command: SchemaCommand<Answer>,
  look: (context: WriteContext) => Resumable<void>,
): (context: WriteContext) => Resumable<Answer> {
  return function* (context) {
    const result = command(context)
    const answer = isResumable(result) ? yield* result : result
    yield* look(context)
    return answer
  }
}

/**
 * Throws `LIMIT_EXCEEDED` if the stored parts and the changes of the draft together are more than allowed.
 * O(parts that the draft writes), with a pause after each.
 */
export function* checkSchemaCeilings(
  context: Pick<WriteContext, 'records' | 'newId'>,
  ceilings = SCHEMA_CEILINGS,
): Resumable<void> {
  const { records } = context
  const grown = (yield* growthsOf(records, ceilings)).filter(({ more }) => more > 0)
  if (grown.length === 0) return
  // This comes before counting, because a count of dead rows can take several event-loop iterations, in which
  // other commands can add parts.
  noteAdded(context)
  for (const { kind, list, more, max, isReached } of grown) {
    if (records.storedCount(list) + more <= max) continue
    // Dead rules do not count, but are in their lists until they are purged.
    if (kind === 'rule' && records.hasDead && (yield* records.liveCount(kind, list)) <= max) continue
    throw new AuthzError('LIMIT_EXCEEDED', `${isReached(records)}, which is the maximum`)
  }
}

const PART_KINDS = ['type', 'role', 'relation', 'condition-set', 'rule', 'proxy-config'] as const
type PartKind = (typeof PART_KINDS)[number]

interface Ceiling {
  readonly kind: PartKind
  readonly list: ListName
  readonly max: number
  /** The error message if the limit is reached. */
  readonly isReached: (records: Draft) => string
}

interface Growth extends Ceiling {
  more: number
}

function* growthsOf(records: Draft, ceilings: SchemaCeilings): Resumable<Growth[]> {
  const growths = new Map<string, Growth>()
  const add = (record: StoredRecord | null, by: number): void => {
    for (const ceiling of record === null ? [] : ceilingsOn(record, ceilings)) {
      const name = Buffer.from(ceiling.list).toString('latin1')
      const known = growths.get(name)
      if (known) known.more += by
      else growths.set(name, { ...ceiling, more: by })
    }
  }
  for (const kind of PART_KINDS) {
    for (const [before, after] of records.written(kind)) {
      yield
      // Another state of the same part: the stored count includes the part already.
      if (before?.id === after?.id) continue
      add(before, -1)
      add(after, 1)
    }
  }
  return [...growths.values()]
}

/** The limits to which a part of a schema is subject; none for other records. */
function ceilingsOn(record: StoredRecord, ceilings: SchemaCeilings): readonly Ceiling[] {
  const { resources, roles, tenantRoles, relations, partsPerResource } = ceilings
  const ofType = (kind: PartKind, list: ListName, typeId: string, what: string): Ceiling => {
    const isReached = (records: Draft): string => {
      const key = JSON.stringify(records.byId('type', typeId)?.key)
      return `resource ${key} has ${partsPerResource} ${what}`
    }
    return { kind, list, max: partsPerResource, isReached }
  }
  switch (record.kind) {
    case 'type':
      if (isBuiltInTypeKey(record.key)) return []
      return [ofAll('type', lists.all('type'), resources, 'resources')]
    case 'role': {
      const { typeId } = record
      const among =
        typeId === null
          ? ofAll('role', lists.rolesOfType(null), tenantRoles, 'tenant roles')
          : ofType('role', lists.rolesOfType(typeId), typeId, 'roles')
      return [ofAll('role', lists.all('role'), roles, 'roles'), among]
    }
    case 'relation': {
      const { typeId, subjectTypeId } = record
      return [
        ofAll('relation', lists.all('relation'), relations, 'relations'),
        ofType('relation', lists.relationsOfType(typeId), typeId, 'relations'),
        ofType('relation', lists.relationsFromType(subjectTypeId), subjectTypeId, 'relations'),
      ]
    }
    case 'condition-set':
      return [ofAll('condition-set', lists.all('condition-set'), ceilings.conditionSets, 'condition sets')]
    case 'rule':
      return [
        ofAll('rule', lists.all('rule'), ceilings.rules, 'rules'),
        ofAction(record, ceilings.rulesPerAction),
      ]
    case 'proxy-config':
      return [ofAll('proxy-config', lists.all('proxy-config'), ceilings.proxyConfigs, 'proxy configs')]
    default:
      return []
  }
}

function ofAction({ typeId, actionId }: RuleRecord, max: number): Ceiling {
  const isReached = (records: Draft): string => {
    const type = records.byId('type', typeId)
    const action = type?.actions.find(({ id }) => id === actionId)
    return `permission ${JSON.stringify(`${type?.key}:${action?.key}`)} has ${max} rules`
  }
  return { kind: 'rule', list: lists.rulesOfAction(actionId), max, isReached }
}

function ofAll(kind: PartKind, list: ListName, max: number, what: string): Ceiling {
  return { kind, list, max, isReached: () => `there are ${max} ${what}` }
}
