/** Lists of role assignments (native.md B.8), plain or with the details of the entities that they connect. */
import { presented } from '#entities/entity.ts'
import { presentInstant, presentScope, type ReadContext } from '#management/drafts/context.ts'
import {
  instanceFilter,
  roleFilter,
  tenantFilter,
  typeRolesFilter,
  userFilter,
  expiryFilters,
} from '#management/paging/fact-filters.ts'
import { arrayOrEnvelope, type Page } from '#management/paging/paging.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { pageOfSelection } from '#management/paging/selection.ts'
import { presentExpiry } from '#management/drafts/fact-expiry.ts'
import { instanceKeyOf } from './resource-instances.ts'
import type { AssignmentRecord } from '#entities/records.ts'
import type {
  DetailedRoleAssignment,
  DetailedRoleAssignmentsQuery,
  RoleAssignment,
  RoleAssignmentsQuery,
} from '#entities/role-assignment.ts'
import { USER } from '#entities/user.ts'
import { AuthzError } from '#model/errors.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { partsOf, presentAssignment } from './role-assignments.ts'

type Listed = RoleAssignment | DetailedRoleAssignment

export function* listRoleAssignments(
  context: ReadContext,
  input: { readonly query: RoleAssignmentsQuery },
): Resumable<Page<Listed> | Listed[]> {
  const { query } = input
  const hasTotal = query.include_total_count ?? false
  if (query.detailed && context.records.isLimited) {
    const message =
      'this grant is limited to tenants and cannot read the details of users: leave out `detailed`'
    throw new AuthzError('FORBIDDEN', message)
  }
  const page = yield* pageOfAssignments<Listed>(context, query, hasTotal, record =>
    query.detailed
      ? presentDetailed(context, record)
      : presentAssignment(context, record, partsOf(context.records, record)),
  )
  return arrayOrEnvelope(page, hasTotal)
}

export function listDetailedRoleAssignments(
  context: ReadContext,
  input: { readonly query: DetailedRoleAssignmentsQuery },
): Resumable<Page<DetailedRoleAssignment>> {
  return pageOfAssignments(context, input.query, true, record => presentDetailed(context, record))
}

function pageOfAssignments<Item>(
  { records }: ReadContext,
  query: DetailedRoleAssignmentsQuery,
  hasTotal: boolean,
  present: (record: AssignmentRecord) => Item,
): Resumable<Page<Item>> {
  return pageOfSelection(records, {
    kind: 'assignment',
    all: lists.all('assignment'),
    filters: [
      userFilter(records, query.user),
      roleFilter(records, query.role),
      tenantFilter(records, query.tenant, lists.assignmentsOfTenant),
      typeRolesFilter(records, query.resource),
      instanceFilter<AssignmentRecord>(
        records,
        query.resource_instance,
        lists.assignmentsOnInstance,
        record => record.instanceId,
      ),
      ...expiryFilters(query.expires_before, lists.expiringAssignments),
    ],
    paging: query,
    hasTotal,
    present,
  })
}

function presentDetailed(context: ReadContext, record: AssignmentRecord): DetailedRoleAssignment {
  const { user, role, tenant, instance } = partsOf(context.records, record)
  return {
    id: record.id,
    user: { id: user.id, key: user.key, ...presented(USER, user) },
    role: { id: role.id, key: role.key, name: role.name, permissions: [...role.permissions] },
    tenant: { id: tenant.id, key: tenant.key, name: tenant.name, attributes: tenant.attributes },
    resource_instance: instance && {
      id: instance.id,
      key: instance.key,
      resource: instanceKeyOf(context.records, instance).type,
      attributes: instance.attributes,
    },
    ...presentScope(context.scope),
    created_at: presentInstant(record.createdAt),
    ...presentExpiry(record),
  }
}

export const reads = { listDetailedRoleAssignments, listRoleAssignments }
