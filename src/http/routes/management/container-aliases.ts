/**
 * Paths that scripts and charts for the container of the commercial service call to make the container fetch
 * data or policies. In this service, a change of facts or policies takes effect before the response to the
 * change is sent. There is nothing to fetch, so these calls return immediately.
 */
import { Type } from 'typebox'
import { PrebuiltReply } from '#http/message/answer.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { EnvironmentPath } from '#model/wire/organization/environment.ts'
import { TenantList, TenantsPath, TenantsQuery } from '#entities/tenant.ts'
import { UpdateTriggered } from '#model/wire/update-triggered.ts'
import { FACTS_BASE, managed, type ManagementGateway } from './managed.ts'

const UP_TO_DATE = new PrebuiltReply(200, { status: 'ok', triggered: false })
const RESPONSES = { 200: { description: 'Everything is up to date.', schema: UpdateTriggered } }

export function containerAliasRoutes(gateway: ManagementGateway): Route[] {
  return [
    triggerRoute('/data-updater/trigger', 'triggerDataUpdate'),
    triggerRoute('/policy-updater/trigger', 'triggerPolicyUpdate'),
    refreshRoute(gateway),
  ]
}

function triggerRoute(path: string, operationId: string): Route {
  return defineRoute({
    method: 'POST',
    path,
    operationId,
    level: 'read',
    summary: 'Update the data of a decision point; no effect, because it is always up to date',
    family: 'native',
    access: 'environment',
    isRead: true,
    isDescribed: false,
    responses: RESPONSES,
    handle: () => UP_TO_DATE,
  })
}

function refreshRoute(gateway: ManagementGateway): Route {
  const listing = managed(gateway)({
    operation: 'listTenants',
    level: 'read',
    method: 'GET',
    path: `${FACTS_BASE}/tenants`,
    summary: 'List tenants',
    params: TenantsPath,
    query: TenantsQuery,
    answer: TenantList,
  })
  return defineRoute({
    method: 'POST',
    path: '/v2/pdps/{proj_id}/{env_id}/refresh',
    operationId: 'refreshDecisionPoints',
    level: 'read',
    summary: 'Update the decision points of an environment; no effect, because they are always up to date',
    family: 'management',
    access: 'any-key',
    isRead: true,
    isDescribed: false,
    params: EnvironmentPath,
    query: Type.Object({}),
    responses: RESPONSES,
    handle: async call => {
      // The list is requested only to check that the environment exists.
      await listing.handle({ ...call, query: { per_page: 1 } })
      return UP_TO_DATE
    },
  })
}
