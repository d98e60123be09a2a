/**
 * Checks that apply to roles in every operation: permissions name existing actions, and derivations match the
 * model (native.md B.4). The checks of `extends` are in `extends/check-extends.ts`.
 */
import type { WriteContext } from '#management/drafts/context.ts'
import type { Draft } from '#management/drafts/draft.ts'
import { requireRelation, requireRole, requireType } from '#management/drafts/lookups.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import type { ActionRecord, DerivationRecord, GrantedToRecord, TypeRecord } from '#entities/records.ts'
import type { DerivationBlock, DerivationCreate } from '#entities/role.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { keepRelation } from './relations.ts'

/**
 * Resolves permission texts to the stored form, without duplicates: `type:action` for a tenant role, the bare
 * action for a role of `type`. Throws `NOT_FOUND` for an unknown action, `INVALID_PERMISSION_FORMAT` for a
 * tenant role's text that is neither `type:action` nor an id.
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
 * Checks the format of a tenant role's permissions, which schemas cannot express. Errors of shape precede
 * errors about missing entities (native.md D-38).
 */
export function checkTenantPermissions(texts: readonly string[]): void {
  for (const text of texts) {
    if (text.includes(':') || idFrom(text) !== null) continue
    throw new AuthzError(
      'INVALID_PERMISSION_FORMAT',
      `a permission of a tenant role must have the form resource:action, got ${JSON.stringify(text)}`,
    )
  }
}

/**
 * Resolves a permission of a tenant role. O(1) for a text whose type was resolved before, O(types) for an id.
 */
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
    if (action?.key !== key && action?.id !== idFrom(text)) throw foreignAction(type, key)
    return action.key
  }
}

const actionsByName = new WeakMap<readonly ActionRecord[], ReadonlyMap<string, ActionRecord>>()

/**
 * The action with that key; if there is none, the one with that id. O(actions) for the first call, O(1) for
 * later ones: roles can have thousands of permissions.
 */
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
 * Marks the type as written, and returns it. A role that is being written refers to actions of its type.
 * The mark causes a conflict with a concurrent removal of an action, and the removal then runs again.
 */
function withContent(records: Draft, type: TypeRecord): TypeRecord {
  records.touch(type)
  return type
}

function unknownAction(text: string): AuthzError {
  return new AuthzError('NOT_FOUND', `there is no action ${JSON.stringify(text)}`)
}

/** Error for a permission of a resource role that is not an action of its resource. */
function foreignAction({ key }: TypeRecord, text: string): AuthzError {
  const [resource, got] = [JSON.stringify(key), JSON.stringify(text)]
  const message = text.includes(':')
    ? `a role of resource ${resource} can have only its actions, got ${got}`
    : `there is no action ${got} on resource ${resource}`
  return new AuthzError('NOT_FOUND', message)
}

/**
 * Throws `NOT_FOUND` if a role references a missing entity. These errors precede mismatches (native.md D-38).
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

/** The derivation block of a body, checked against the model; `previousId` becomes the block's id. */
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
 * Checks an entry: the relation is defined on the role's own type, and its subjects have the source role's
 * type (native.md B.4). The relation is protected from a concurrent removal, which could otherwise leave the
 * entry without a relation.
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
    // The type may have been removed while a bulk was processed. The commit then fails, and the bulk runs
    // again.
    const subjectType = records.byId('type', relation.subjectTypeId)
    throw new AuthzError(
      'MISMATCH_RELATION_TYPE',
      `relation ${JSON.stringify(relation.key)} links subjects of ${JSON.stringify(subjectType?.key)}, ` +
        `not of ${JSON.stringify(onType.key)}`,
    )
  }
  keepRelation(context, relation)
  // The entry references these two entities. Marking them as written causes a conflict with a concurrent
  // removal of either, which then runs again.
  records.touch(relation)
  records.touch(role)
  return {
    role: role.key,
    onType: onType.key,
    relation: relation.key,
    guarded: wanted.when?.no_direct_roles_on_object ?? false,
  }
}

/** Whether two entries are equal except for their guards (native.md D-34). */
export function isSameDerivation(left: DerivationRecord, right: DerivationRecord): boolean {
  return left.role === right.role && left.onType === right.onType && left.relation === right.relation
}
