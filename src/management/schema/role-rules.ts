/**
 * The rules a role must keep, whichever operation writes it: permissions name actions that exist, derivations fit the
 * model (native.md B.4). The rules of `extends` are in `extends/resolve-extends.ts`.
 */
import type { WriteContext } from '#management/commands/context.ts'
import type { Draft } from '#management/commands/draft.ts'
import { requireRelation, requireRole, requireType } from '#management/commands/lookups.ts'
import type { Permission } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import type {
  ActionRecord,
  DerivationRecord,
  GrantedToRecord,
  RoleRecord,
  TypeRecord,
} from '#model/records.ts'
import type { DerivationBlock, DerivationCreate } from '#model/wire/role.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { keepRelation } from './relations.ts'

/**
 * Resolves permission texts to the stored form, duplicates dropped: `type:action` for a tenant role, the bare action
 * for a role of `type`. Throws `NOT_FOUND` for an unknown action, `INVALID_PERMISSION_FORMAT` for a tenant role's
 * text that is neither `type:action` nor an id.
 */
export function resolvePermissions(
  records: Draft,
  type: TypeRecord | null,
  texts: readonly string[],
): string[] {
  if (type === null) checkTenantPermissions(texts)
  const resolve = type === null ? tenantPermissions(records) : resourcePermissions(records, type)
  return [...new Set(texts.map(resolve))]
}

/**
 * Checks what schemas cannot say of a tenant role's permissions. It is a matter of shape, so it comes before what exists
 * (native.md D-38).
 */
export function checkTenantPermissions(texts: readonly string[]): void {
  for (const text of texts) {
    if (text.includes(':') || idFrom(text) !== null) continue
    throw new AuthzError(
      'INVALID_PERMISSION_FORMAT',
      `a permission of a tenant role reads resource:action, not ${JSON.stringify(text)}`,
    )
  }
}

/** How a permission of a tenant role is stored. O(1) for a text of a type once known, O(types) for an id. */
function tenantPermissions(records: Draft): (text: string) => string {
  const known = new Map<string, TypeRecord>()
  return text => {
    const colon = text.indexOf(':')
    if (colon < 0) {
      for (const type of records.list('type', lists.all('type'))) {
        const action = actionIn(type, text)
        if (action?.id === idFrom(text)) return `${withContent(records, type).key}:${action.key}`
      }
      throw unknownAction(text)
    }
    const reference = text.slice(0, colon)
    let type = known.get(reference)
    if (!type) known.set(reference, (type = withContent(records, requireType(records, reference))))
    const action = text.slice(colon + 1)
    if (actionIn(type, action)?.key !== action) throw unknownAction(text)
    return `${type.key}:${action}`
  }
}

function resourcePermissions(records: Draft, type: TypeRecord): (text: string) => string {
  const prefix = `${type.key}:`
  let isKept = false
  return text => {
    if (!isKept) withContent(records, type)
    isKept = true
    const key = text.startsWith(prefix) ? text.slice(prefix.length) : text
    const action = actionIn(type, key) ?? actionIn(type, text)
    if (action?.key !== key && action?.id !== idFrom(text)) throw unknownAction(text)
    return action.key
  }
}

const actionsByName = new WeakMap<readonly ActionRecord[], ReadonlyMap<string, ActionRecord>>()

/** The action of that key, else the one of that id. O(actions) the first time, O(1) later: roles name thousands. */
function actionIn({ actions }: TypeRecord, reference: string): ActionRecord | undefined {
  let byName = actionsByName.get(actions)
  if (!byName) {
    byName = new Map([
      ...actions.map(each => [each.id, each] as const),
      ...actions.map(each => [each.key, each] as const),
    ])
    actionsByName.set(actions, byName)
  }
  return byName.get(reference) ?? byName.get(idFrom(reference) ?? '')
}

/**
 * Returns the type, on which a role that names an action of it rests: the action must not be removed while the role is
 * written, and a removal that is under way must run again.
 */
function withContent(records: Draft, type: TypeRecord): TypeRecord {
  records.touch(type)
  return type
}

function unknownAction(text: string): AuthzError {
  return new AuthzError('NOT_FOUND', `there is no action ${JSON.stringify(text)}`)
}

/** A role's stored permissions in the form in which the engine takes them. */
export function permissionsOf(role: RoleRecord, type: TypeRecord | null): Permission[] {
  return role.permissions.map(text => {
    if (type !== null) return { type: type.key, action: text }
    const colon = text.indexOf(':')
    return { type: text.slice(0, colon), action: text.slice(colon + 1) }
  })
}

/**
 * Throws `NOT_FOUND` for what a role mentions and does not exist. It comes before the checks of what does not
 * fit (native.md D-38).
 */
export function requireMentions(
  records: Draft,
  type: TypeRecord | null,
  mentions: {
    readonly extends: readonly string[]
    readonly entries: readonly DerivationCreate[]
  },
): void {
  for (const reference of mentions.extends) requireRole(records, type, reference)
  if (type === null) return
  for (const entry of mentions.entries) {
    requireRole(records, requireType(records, entry.on_resource), entry.role)
    requireRelation(records, type, entry.linked_by_relation)
  }
}

/** The block a body gives, checked against the model; `previousId` keeps the block's id. */
export function resolveGrantedTo(
  context: WriteContext,
  type: TypeRecord,
  block: DerivationBlock,
  previousId: string,
): GrantedToRecord {
  const entries: DerivationRecord[] = []
  for (const wanted of block.users_with_role ?? []) {
    const entry = resolveDerivation(context, type, wanted)
    if (!entries.some(other => isSameDerivation(other, entry))) entries.push(entry)
  }
  return { id: previousId, guarded: block.when?.no_direct_roles_on_object ?? false, entries }
}

/**
 * Checks an entry: the relation is defined on the role's own type, its subjects are of the source role's type
 * (native.md B.4). The relation is kept, or one that is about to be removed could leave the entry behind.
 */
export function resolveDerivation(
  context: WriteContext,
  type: TypeRecord,
  wanted: DerivationCreate,
): DerivationRecord {
  const { records } = context
  const onType = requireType(records, wanted.on_resource)
  const role = requireRole(records, onType, wanted.role)
  const relation = requireRelation(records, type, wanted.linked_by_relation)
  if (relation.subjectTypeId !== onType.id) {
    // The type may have been removed while a bulk was being read. The commit will not hold then, and the bulk runs again.
    const subjectType = records.byId('type', relation.subjectTypeId)
    throw new AuthzError(
      'MISMATCH_RELATION_TYPE',
      `relation ${JSON.stringify(relation.key)} links subjects of ${JSON.stringify(subjectType?.key)}, ` +
        `not of ${JSON.stringify(onType.key)}`,
    )
  }
  keepRelation(context, relation)
  // The two things that the entry mentions: a removal of either that is under way must run again.
  records.touch(relation)
  records.touch(role)
  return {
    role: role.key,
    onType: onType.key,
    relation: relation.key,
    guarded: wanted.when?.no_direct_roles_on_object ?? false,
  }
}

/** Whether two entries say the same, guards aside (native.md D-34). */
export function isSameDerivation(left: DerivationRecord, right: DerivationRecord): boolean {
  return left.role === right.role && left.onType === right.onType && left.relation === right.relation
}
