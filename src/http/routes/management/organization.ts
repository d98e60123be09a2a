/** The organization. Some clients request them before all other data. */
import type { Route } from '#http/routing/route.ts'
import {
  Organization,
  OrganizationList,
  OrganizationPath,
  OrganizationsQuery,
} from '#model/wire/organization/organization.ts'
import type { ManageOrganization } from './managed.ts'

const ORGANIZATIONS = '/v2/orgs'

export function organizationRoutes(manage: ManageOrganization): Route[] {
  return [
    manage({
      operation: 'listOrganizations',
      level: 'decide',
      method: 'GET',
      path: ORGANIZATIONS,
      summary: 'List the only organization',
      access: 'any-key',
      query: OrganizationsQuery,
      answer: OrganizationList,
    }),
    manage({
      operation: 'getOrganization',
      level: 'decide',
      method: 'GET',
      path: `${ORGANIZATIONS}/{org_id}`,
      summary: 'Read the organization',
      access: 'any-key',
      params: OrganizationPath,
      answer: Organization,
    }),
    manage({
      operation: 'getActiveOrganization',
      level: 'decide',
      method: 'GET',
      path: `${ORGANIZATIONS}/active/org`,
      summary: 'Read the organization of the API key',
      access: 'any-key',
      answer: Organization,
    }),
  ]
}
