/**
 * Finds the entities that a call named, with their keys and ids. The audit entry keeps them, because a
 * deleted entity cannot be looked up later. They are among the records that the call's draft has read, so no
 * further reads are needed.
 */
import { formatInstanceReference, idFrom } from '#model/instance-reference.ts'
import type { RoleRecord, TypeRecord } from '#entities/records.ts'
import type { AuditedThing } from '#model/wire/organization/audit.ts'
import {
  type AuditSubject,
  has,
  isNamedBy,
  type Members,
  type Naming,
  namingsIn,
  subjectOfNames,
} from './audit-subjects.ts'
import type { Draft } from '#management/drafts/draft.ts'
import type { Resumable } from '#scheduling/resumable.ts'

/** Names and records examined between two pauses: a few tenths of a millisecond. */
const YIELD_THINGS = 256

/** Kinds of records whose key identifies one record of the kind. */
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

/**
 * A record of these kinds counts as named if the call writes it, because the call that creates it may not
 * name it.
 */
const WRITTEN_KINDS = ['project', 'environment', 'api-key'] as const

/**
 * Operations whose entries name the members and member groups that they write or delete. Other operations can
 * change the grants of thousands of members.
 */
const ABOUT_MEMBERS: ReadonlySet<string> = new Set([
  'createMember',
  'updateMember',
  'deleteMember',
  'deleteMemberPermissions',
  'createMemberGroup',
  'replaceMemberGroup',
  'deleteMemberGroup',
  'finishSignIn',
])

/**
 * The entities that `input` names, without duplicates. O(records that the draft has read + names in `input`).
 * Pauses every few hundred of them.
 */
export function* auditedThings(records: Draft, operation: string, input: Members): Resumable<AuditedThing[]> {
  const things = new Map<string, AuditedThing>()
  const namedTexts = yield* namingsByText(input, operation)
  let met = 0
  for (const [thing, subject] of candidates(records)) {
    const isNamed = subject.spellings.some(text =>
      namedTexts.get(text)?.some(naming => isNamedBy(naming, subject)),
    )
    if (isNamed) things.set(thing.id, thing)
    if (++met % YIELD_THINGS === 0) yield
  }
  for (const kind of WRITTEN_KINDS)
    for (const [, after] of records.written(kind)) {
      if (after === null) continue
      const thing =
        after.kind === 'api-key'
          ? { kind: 'api_key' as const, key: after.name }
          : { kind: after.kind, key: after.key }
      things.set(after.id, { ...thing, id: after.id })
    }
  if (ABOUT_MEMBERS.has(operation)) for (const thing of membersIn(records)) things.set(thing.id, thing)
  return [...things.values()]
}

function* membersIn(records: Draft): Iterable<AuditedThing> {
  for (const [before, after] of records.written('member')) {
    const member = after ?? before
    if (member !== null) yield { kind: 'member', key: member.name, id: member.id }
  }
  for (const [before, after] of records.written('member-group')) {
    const group = after ?? before
    if (group !== null) yield { kind: 'member_group', key: group.group, id: group.id }
  }
}

/** All strings in a call that can name an entity, by their text and by the id that the text represents. */
function* namingsByText(
  input: Members,
  operation: string,
): Resumable<ReadonlyMap<string, readonly Naming[]>> {
  const byText = new Map<string, Naming[]>()
  let count = 0
  for (const naming of namingsIn(input, operation)) {
    const { text } = naming
    const id = idFrom(text)
    for (const spelling of id === null || id === text ? [text] : [text, id]) {
      const known = byText.get(spelling)
      if (known === undefined) byText.set(spelling, [naming])
      else known.push(naming)
    }
    if (++count % YIELD_THINGS === 0) yield
  }
  return byText
}

/** The records that the draft has read, each with the names by which a call can refer to it. */
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
  const known = new Set(Array.from(types.values(), type => [...namesOf(type)]).flat())
  for (const role of records.met('role')) {
    const type = role.typeId === null ? null : (types.get(role.typeId) ?? null)
    yield roleThing(role, type, known)
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
      const { isNamed, spellings } = subjectOfNames(kind, [id, key])
      const isOfType = ({ resource_id: named }: Members): boolean =>
        typeof named !== 'string' || has(namesOf(type), named)
      yield [
        { kind, key, id },
        {
          kind,
          spellings,
          isNamed: (text, name, beside) => isOfType(beside) && isNamed(text, name, beside),
        },
      ]
    }
}

function namesOf({ key, id }: TypeRecord): ReadonlySet<string> {
  return new Set([key, id])
}

/**
 * The entity for a role that a name refers to. Several types can have roles with the same key, so the
 * siblings of the name determine the type. `known` contains the names of types.
 */
function roleThing(
  { id, key }: RoleRecord,
  type: TypeRecord | null,
  known: ReadonlySet<string>,
): readonly [AuditedThing, AuditSubject] {
  const { isNamed, spellings } = subjectOfNames('role', [id, key])
  const ofType = type === null ? null : namesOf(type)
  const isOfType = (name: string, beside: Members): boolean => {
    const isInPath = name === 'role_id' || name === 'parent_role_id'
    const named = isInPath ? beside['resource_id'] : (beside['on_resource'] ?? beside['resource'])
    if (typeof named !== 'string') return !isInPath || type === null
    if (!has(known, named)) return true
    return ofType !== null && has(ofType, named)
  }
  return [
    { kind: 'role', key, id },
    {
      kind: 'role',
      spellings,
      isNamed: (text, name, beside) => isOfType(name, beside) && isNamed(text, name, beside),
    },
  ]
}
