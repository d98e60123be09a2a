/**
 * Lists of users (native.md B.6, B.7). Users who hold a role are read from lists of assignments. Such a list
 * has each user once, by the user's oldest assignment in it, so users are in the order in which they got
 * their first role.
 */
import { searchedTexts } from '#entities/entity.ts'
import type { ReadContext } from '#management/drafts/context.ts'
import { rolesNamed } from '#management/paging/fact-filters.ts'
import { requireTenant } from '#management/drafts/lookups.ts'
import { matchesSearch, type Page, PageBytes, pageOfLists } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { attributeFilter } from '#management/paging/selection.ts'
import type { AssignmentRecord, RoleRecord, UserRecord } from '#entities/records.ts'
import type { Paging } from '#model/wire/paging.ts'
import { type TenantUsersQuery, type User, USER, type UsersQuery } from '#entities/user.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'
import { presentUser } from './user-presenter.ts'

export function* listUsers(
  context: ReadContext,
  input: { readonly query: UsersQuery },
): Resumable<Page<User>> {
  const { records } = context
  const { query } = input
  const matches = filterOf(query, query.search_operator)
  const page =
    query.role === undefined || query.role === ''
      ? yield* pageOfUsers(records, query, matches)
      : yield* pageOfHolders(records, query, {
          ...holdersOfRoles(rolesNamed(records, query.role), {
            users: lists.usersOfRole,
            held: lists.heldRole,
          }),
          matches,
        })
  return yield* presentUsers(context, page, query)
}

/** This environment's part of a list over several environments (native.md B.14). */
export function* listUsersEverywhere(
  context: ReadContext,
  input: { readonly query: Paging },
): Resumable<Page<User>> {
  const { records } = context
  return yield* presentUsers(context, yield* pageOfUsers(records, input.query, null), input.query)
}

/** The users who have a role in the tenant itself, or on an instance in it. */
export function* listTenantUsers(
  context: ReadContext,
  input: { readonly params: { readonly tenant_id: string }; readonly query: TenantUsersQuery },
): Resumable<Page<User>> {
  const { records } = context
  const { query } = input
  const tenant = requireTenant(records, input.params.tenant_id)
  const matches = filterOf(query)
  const holders =
    query.role === undefined
      ? {
          lists: [lists.usersOfTenant(tenant.id)],
          heldOf: ({ userId }: AssignmentRecord) => lists.heldInTenant(tenant.id, userId),
        }
      : holdersOfRoles(rolesOfFilter(records, query.role), {
          users: roleId => lists.usersOfRoleInTenant(tenant.id, roleId),
          held: (roleId, userId) => lists.heldRoleInTenant(tenant.id, roleId, userId),
        })
  return yield* presentUsers(context, yield* pageOfHolders(records, query, { ...holders, matches }), query)
}

/** An empty `role` selects users without roles. A tenant has no such user. */
function rolesOfFilter(records: RecordReader, role: string): readonly RoleRecord[] {
  return role === '' ? [] : rolesNamed(records, role)
}

/** Returns a filter by search text and attributes; null if every user matches. */
function filterOf(
  { search, attributes }: Pick<UsersQuery, 'search' | 'attributes'>,
  operator?: UsersQuery['search_operator'],
): ((user: UserRecord) => boolean) | null {
  const filter = attributeFilter(attributes)
  if (search === undefined) return filter && (user => filter.matches(user))
  return user => {
    if (filter !== null && !filter.matches(user)) return false
    return matchesSearch(search, searchedTexts(USER, user), operator)
  }
}

/** Maximum number of items to examine. */
function rowsMaxOf({ attributes }: Pick<UsersQuery, 'attributes'>): number {
  return attributeFilter(attributes)?.rowsMax ?? Number.POSITIVE_INFINITY
}

/** All users, or with an empty `role` only those without roles. */
function pageOfUsers(
  records: RecordReader,
  query: UsersQuery,
  filter: ((user: UserRecord) => boolean) | null,
): Resumable<Page<UserRecord>> {
  const rowsMax = rowsMaxOf(query)
  const parts = { kind: 'user', paging: query, rowsMax, present: (user: UserRecord) => user } as const
  if (query.role === undefined) {
    return pageOfLists(records, { ...parts, lists: [lists.all('user')], matches: filter })
  }
  if (!records.hasDead) {
    return pageOfLists(records, { ...parts, lists: [lists.usersWithoutRoles()], matches: filter })
  }
  // Assignments of deleted entities exclude a user from the list until their purge.
  const matches = function* (user: UserRecord): Resumable<boolean> {
    if (filter !== null && !filter(user)) return false
    return !(yield* holdsAny(records, lists.assignmentsOfUser(user.id)))
  }
  return pageOfLists(records, { ...parts, lists: [lists.all('user')], matches })
}

/** A list of assignments that is read as a list of users. */
interface Holders {
  readonly lists: readonly ListName[]
  /** All assignments of that user that belong to the list. */
  readonly heldOf: (record: AssignmentRecord) => ListName
  readonly matches: ((user: UserRecord) => boolean) | null
  /** Earlier lists that may already contain the user. */
  readonly earlierOf?: (record: AssignmentRecord) => readonly ListName[]
}

/** Two lists per role: the users who hold it, and the assignments by which one user holds it. */
interface ListsByRole {
  readonly users: (roleId: string) => ListName
  readonly held: (roleId: string, userId: string) => ListName
}

/**
 * The users who hold one of the roles. A user with several of them is in several lists and counts in the
 * first.
 */
function holdersOfRoles(roles: readonly RoleRecord[], by: ListsByRole): Omit<Holders, 'matches'> {
  const ids = roles.map(role => role.id)
  return {
    lists: ids.map(by.users),
    heldOf: record => by.held(record.roleId, record.userId),
    earlierOf: record => ids.slice(0, ids.indexOf(record.roleId)).map(id => by.held(id, record.userId)),
  }
}

function* pageOfHolders(
  records: RecordReader,
  query: UsersQuery,
  holders: Holders,
): Resumable<Page<UserRecord>> {
  const { matches, heldOf } = holders
  const earlierOf = holders.lists.length > 1 ? holders.earlierOf : undefined
  const isNarrowed = matches !== null || earlierOf !== undefined
  const userOf = (record: AssignmentRecord) => records.byId('user', record.userId)
  const isListed = function* (record: AssignmentRecord): Resumable<boolean> {
    for (const held of earlierOf?.(record) ?? []) if (yield* holdsAny(records, held)) return false
    const user = userOf(record)
    return user !== null && (matches === null || matches(user))
  }
  const page = yield* pageOfLists(records, {
    kind: 'assignment',
    lists: holders.lists,
    paging: query,
    rowsMax: rowsMaxOf(query),
    standsForLive: record => holdsAny(records, heldOf(record)),
    matches: isNarrowed ? isListed : null,
    present: userOf,
  })
  // A user who was removed while the assignments were read is null and is omitted.
  return { ...page, data: page.data.filter(user => user !== null) }
}

/** Whether a list contains a live assignment. O(list) at most. */
function* holdsAny(records: RecordReader, held: ListName): Resumable<boolean> {
  let rows = 0
  for (const { isDead } of records.foundIn('assignment', [held])) {
    if (++rows % YIELD_ROWS === 0) yield
    if (!isDead) return true
  }
  return false
}

/** The users of a page in the form of responses. Omits users who were removed in the meantime. */
function* presentUsers(
  context: ReadContext,
  page: Page<UserRecord>,
  query: TenantUsersQuery,
): Resumable<Page<User>> {
  const data: User[] = []
  const bytes = new PageBytes()
  for (const { id } of page.data) {
    yield
    const user = context.records.byId('user', id)
    if (!user) continue
    const presented = yield* presentUser(context, user, query.include_resource_instance_roles)
    bytes.add(presented)
    data.push(presented)
  }
  return { ...page, data }
}

export const reads = { listTenantUsers, listUsers, listUsersEverywhere }
