/**
 * Read operations on the organization. Every key may call them, because they return only the organization
 * itself, whose id `/v2/api-key/scope` also returns.
 */
import { presentTimes } from '#management/drafts/context.ts'
import { pageOfArray } from '#management/paging/paging.ts'
import { searchFilter } from '#management/paging/selection.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import type {
  Organization,
  OrganizationPath,
  OrganizationsQuery,
} from '#model/wire/organization/organization.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import {
  ORGANIZATION_NAMES,
  type OrganizationReadContext,
  requireOrganization,
} from '#management/scopes/organization-context.ts'

/** Lists the only organization, as a bare array in every case. */
export function listOrganizations(
  context: OrganizationReadContext,
  input: { readonly query: OrganizationsQuery },
): Organization[] {
  const search = searchFilter(input.query.search, ({ key, name }: Organization) => [key, name])
  const found = [presentOrganization(context)].filter(each => search?.matches(each) ?? true)
  return pageOfArray(found, input.query)
}

export function getOrganization(
  context: OrganizationReadContext,
  input: { readonly params: OrganizationPath },
): Organization {
  const { org_id } = input.params
  const organization = presentOrganization(context)
  if (org_id === organization.key || idFrom(org_id) === organization.id) return organization
  throw new AuthzError('NOT_FOUND', `there is no organization ${JSON.stringify(org_id)}`)
}

export function getActiveOrganization(context: OrganizationReadContext, _input: object): Organization {
  return presentOrganization(context)
}

function presentOrganization({ records }: OrganizationReadContext): Organization {
  const { id } = requireOrganization(records)
  // The creation time of the organization is not stored. Its first project was created with it.
  const [project] = records.list('project', lists.all('project'))
  const begun = project?.createdAt ?? 0
  return {
    id,
    key: ORGANIZATION_NAMES.key,
    ...presentTimes({ createdAt: begun, updatedAt: begun }),
    name: ORGANIZATION_NAMES.name,
    is_enterprise: false,
    usage_limits: null,
    settings: null,
  }
}
