/**
 * Nested groups (native.md B.3, C.3). The body's group is the child: its members become members of the group
 * in the path, the parent, and never the other way round. Nesting is a tuple `child nesting parent`.
 */
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import { type Page, pageFrom, pageOfLists } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { checkExpiry, expiresAtIn, presentExpiry } from '#management/drafts/fact-expiry.ts'
import { findTuple, grantTuple, removeTuple } from '#management/facts/relationship-tuples.ts'
import { relationChange } from '#management/schema/relations.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type { InstanceRecord, RelationRecord, TupleRecord } from '#entities/records.ts'
import type { Paging } from '#model/wire/paging.ts'
import type { GroupLink, GroupNesting, GroupNestingRemoval, GroupRead } from '#entities/group.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'
import { ensureMemberRole, type Group, requireGroup } from './group-lookup.ts'
import { presentGroup, presentGroupKeys } from './group-presenter.ts'
import { withPlaces } from './group-tree.ts'
import {
  ensureDerivation,
  ensureNestingRelation,
  findNestingRelation,
  memberDerivation,
} from './group-relations.ts'

interface NestingInput<Body extends GroupNestingRemoval> {
  readonly params: { readonly group_instance_key: string }
  readonly body: Body
}

export function* assignGroup(context: WriteContext, input: NestingInput<GroupNesting>): Resumable<GroupRead> {
  checkExpiry(context, input.body, ['body'])
  const { records } = context
  const { parent, child } = resolveNesting(records, input)
  if (parent.type.id !== child.type.id) {
    throw new AuthzError('INVALID_INPUT', 'a group can contain only groups of the same type')
  }
  if (parent.instance.tenantId !== child.instance.tenantId) {
    throw new AuthzError(
      'MISMATCH_RESOURCE_INSTANCES_TENANTS',
      'a group can contain only groups of the same tenant',
    )
  }
  const relation = yield* ensureNestingRelation(context, parent.type)
  // This requirement precedes the search, which takes several event-loop iterations. If a group is nested
  // concurrently, that command writes the relation, and this one runs again.
  records.requireUnchanged(relation)
  const parts = { subject: child.instance, relation, object: parent.instance }
  if (yield* contains(records, relation, { outer: child.instance, inner: parent.instance })) {
    const message =
      parent.instance.id === child.instance.id
        ? `the group ${nameOf(parent)} cannot contain itself`
        : `${nameOf(parent)} is already in ${nameOf(child)}, directly or through other groups`
    throw new AuthzError('INVALID_INPUT', message)
  }
  ensureDerivation(
    context,
    parent.type,
    ensureMemberRole(context, parent.type),
    memberDerivation(parent.type, relation),
  )
  // Two concurrent commands could nest groups in a cycle that neither of them sees. Each of them writes the
  // relation, so the second one runs again.
  const unchanged = { ...relation, retiring: false }
  records.put(unchanged, relationChange(context, unchanged))
  const { outcome } = grantTuple(context, { ...parts, relation: unchanged }, expiresAtIn(input.body))
  if (outcome === 'unchanged') {
    throw new AuthzError('DUPLICATE_ENTITY', `${nameOf(child)} is already in ${nameOf(parent)}`)
  }
  return yield* presentGroup(context, parent)
}

export function unassignGroup(context: WriteContext, input: NestingInput<GroupNestingRemoval>): void {
  const { records } = context
  const { parent, child } = resolveNesting(records, input)
  const relation = findNestingRelation(records, parent.type)
  const parts = relation && { subject: child.instance, relation, object: parent.instance }
  const tuple = parts && findTuple(context, parts)
  if (!tuple) throw new AuthzError('NOT_FOUND', `${nameOf(child)} is not in ${nameOf(parent)}`)
  removeTuple(context, tuple, parts)
}

function resolveNesting(records: RecordReader, input: NestingInput<GroupNestingRemoval>) {
  const parent = requireGroup(records, input.params.group_instance_key)
  return { parent, child: requireGroup(records, input.body.group_instance_key) }
}

/**
 * Whether `inner` is `outer` or somewhere inside it, according to stored tuples (native.md D-47). O(groups
 * that contain `inner`), in slices. A command that nests groups concurrently writes the relation, and the
 * commit requires the relation to be unchanged.
 */
function* contains(
  records: RecordReader,
  relation: RelationRecord,
  groups: { readonly outer: InstanceRecord; readonly inner: InstanceRecord },
): Resumable<boolean> {
  const visited = new Set<string>()
  const waiting = [groups.inner.id]
  let steps = 0
  while (waiting.length > 0) {
    const id = waiting.pop()!
    if (id === groups.outer.id) return true
    if (visited.has(id)) continue
    visited.add(id)
    for (const tuple of records.list('tuple', lists.tuplesFromOver(id, relation.id))) {
      waiting.push(tuple.objectId)
      if (++steps % YIELD_ROWS === 0) yield
    }
  }
  return false
}

function nameOf(group: Group): string {
  return JSON.stringify(formatInstanceReference({ type: group.type.key, key: group.instance.key }))
}

type DirectLinks = (groupId: string, relationId: string) => ListName

/** The direct children of this group. */
export function listGroupChildren(context: ReadContext, input: LinksInput): Resumable<Page<GroupLink>> {
  return pageOfLinks(context, input, lists.tuplesToOver, tuple => tuple.subjectId)
}

/** The groups that directly contain this one. */
export function listGroupParents(context: ReadContext, input: LinksInput): Resumable<Page<GroupLink>> {
  return pageOfLinks(context, input, lists.tuplesFromOver, tuple => tuple.objectId)
}

interface LinksInput {
  readonly params: { readonly group_instance_key: string }
  readonly query: Paging
}

function* pageOfLinks(
  context: ReadContext,
  input: LinksInput,
  links: DirectLinks,
  otherSide: (tuple: TupleRecord) => string,
): Resumable<Page<GroupLink>> {
  const { records } = context
  const group = requireGroup(records, input.params.group_instance_key)
  const relation = findNestingRelation(records, group.type)
  if (!relation) return pageFrom<GroupLink>([], 0, 1)
  const page = yield* pageOfLists(records, {
    kind: 'tuple',
    lists: [links(group.instance.id, relation.id)],
    paging: input.query,
    // The filter is needed because callers can also use this relation to link instances that are not groups.
    matches: tuple => records.byId('instance', otherSide(tuple))?.isGroup === true,
    present: tuple => {
      const other = records.byId('instance', otherSide(tuple))
      assert(other, 'the groups of a tuple exist')
      return { ...presentGroupKeys(records, other), ...presentExpiry(tuple) }
    },
  })
  return yield* withPlaces(records, page)
}

export const reads = { listGroupChildren, listGroupParents }

export const writes = { assignGroup, unassignGroup }
