/**
 * The things that a call named, with their keys and ids: an entry of the audit log keeps them, since a deleted thing cannot be looked up
 * later. They are among the records that the call's own draft met, so nothing is read for this.
 */
import { formatInstanceReference } from '#model/instance-reference.ts'
import type { RoleRecord, TypeRecord } from '#model/records.ts'
import type { AuditedThing } from '#model/wire/audit.ts'
import { type AuditSubject, has, type Members, namesSubject, subjectOfNames } from './audit-subjects.ts'
import type { Draft } from './draft.ts'

/** Kinds of records with a key that names one record of the kind. */
const PLAIN = {
  user: 'user',
  tenant: 'tenant',
  'condition-set': 'condition_set',
  relation: 'relation',
  'proxy-config': 'proxy_config',
  project: 'project',
  environment: 'environment',
} as const
const PLAIN_KINDS = Object.keys(PLAIN) as readonly (keyof typeof PLAIN)[]

/** Of these, what a call writes counts as named: a call that creates one of them does not always name it. */
const WRITTEN_KINDS = ['project', 'environment', 'api-key'] as const

/** The things that `said` names, each once. O(records that the draft met · names in `said`). */
export function auditedThings(records: Draft, operation: string, said: Members): AuditedThing[] {
  const things = new Map<string, AuditedThing>()
  for (const [thing, subject] of candidates(records))
    if (namesSubject(said, subject, operation)) things.set(thing.id, thing)
  for (const kind of WRITTEN_KINDS)
    for (const [, after] of records.written(kind)) {
      if (after === null) continue
      const thing =
        after.kind === 'api-key'
          ? { kind: 'api_key' as const, key: after.name }
          : { kind: after.kind, key: after.key }
      things.set(after.id, { ...thing, id: after.id })
    }
  return [...things.values()]
}

/** The things that the draft met, each with the names by which a call can mean it. */
function* candidates(records: Draft): Iterable<readonly [AuditedThing, AuditSubject]> {
  for (const kind of PLAIN_KINDS)
    for (const { id, key } of records.met(kind)) yield plain({ kind: PLAIN[kind], key, id })
  for (const { id, name } of records.met('api-key'))
    yield [{ kind: 'api_key', key: name, id }, subjectOfNames('api_key', [id])]
  const types = new Map<string, TypeRecord>()
  for (const type of records.met('type')) {
    types.set(type.id, type)
    yield plain({ kind: 'resource', key: type.key, id: type.id })
    yield* partsOf(type)
  }
  for (const [before] of records.written('type')) if (before !== null) yield* partsOf(before)
  const typeNames = new Set(Array.from(types.values(), each => [...namesOf(each)]).flat())
  for (const role of records.met('role')) {
    const type = role.typeId === null ? null : (types.get(role.typeId) ?? null)
    yield roleThing(role, type, typeNames)
  }
  for (const { id, typeId, key } of records.met('instance')) {
    const type = types.get(typeId)
    if (type === undefined) continue
    const reference = formatInstanceReference({ type: type.key, key })
    const subject = subjectOfNames('resource_instance', [id, reference, `${type.id}:${key}`], {
      key,
      types: namesOf(type),
    })
    yield [{ kind: 'resource_instance', key: reference, id }, subject]
  }
}

function plain(thing: AuditedThing): readonly [AuditedThing, AuditSubject] {
  const { kind, key, id } = thing
  return [thing, subjectOfNames(kind, key === null ? [id] : [key, id])]
}

function* partsOf(type: TypeRecord): Iterable<readonly [AuditedThing, AuditSubject]> {
  const parts = { action: type.actions, action_group: type.actionGroups, attribute: type.attributes } as const
  for (const kind of ['action', 'action_group', 'attribute'] as const)
    for (const { id, key } of parts[kind]) {
      const { isNamed } = subjectOfNames(kind, [id, key])
      const isOfType = ({ resource_id: told }: Members): boolean =>
        typeof told !== 'string' || has(namesOf(type), told)
      yield [
        { kind, key, id },
        { kind, isNamed: (text, name, beside) => isOfType(beside) && isNamed(text, name, beside) },
      ]
    }
}

function namesOf({ key, id }: TypeRecord): ReadonlySet<string> {
  return new Set([key, id])
}

/**
 * Several types can have roles of one key: the members next to the name state which type is meant. `typeNames`: keys and ids of all types
 * that the draft met.
 */
function roleThing(
  { id, key }: RoleRecord,
  type: TypeRecord | null,
  typeNames: ReadonlySet<string>,
): readonly [AuditedThing, AuditSubject] {
  const { isNamed } = subjectOfNames('role', [id, key])
  const isOfType = (name: string, beside: Members): boolean => {
    const isInPath = name === 'role_id' || name === 'parent_role_id'
    const told = isInPath ? beside['resource_id'] : (beside['on_resource'] ?? beside['resource'])
    if (typeof told !== 'string') return !isInPath || type === null
    if (!has(typeNames, told)) return true
    return type !== null && has(namesOf(type), told)
  }
  return [
    { kind: 'role', key, id },
    { kind: 'role', isNamed: (text, name, beside) => isOfType(name, beside) && isNamed(text, name, beside) },
  ]
}
