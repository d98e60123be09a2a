/** At least one call of every operation, in an order in which each succeeds. */
import { ENDPOINTS, EVALUATIONS, GOOD } from './access-requests.ts'
import { MANAGEMENT_CALLS } from './management-calls.ts'
import { type ExampleMembers, memberCalls } from './member-calls.ts'
import { organizationCalls } from './organization-calls.ts'
import { ADMIN_KEY, question } from '#testing/processes/running-service.ts'
import { routes } from '#testing/requests/routes.ts'
import { type Call, call } from './schema-calls.ts'

const read = question('alice', 'read', 'document:d1')
const asked = {
  'permit-user-key': 'alice',
  'permit-tenant-id': 'default',
  'permit-action': 'pass',
  'permit-resource-type': 'gate',
}

const DECISION_CALLS: readonly Call[] = [
  call('isAllowed', 'POST', '/allowed', read),
  call('explainAllowed', 'POST', '/allowed/explain', read),
  call('isAllowedBulk', 'POST', '/allowed/bulk', [read, read]),
  call('getUserPermissions', 'POST', '/user-permissions', { user: { key: 'alice' } }),
  call('getAuthorizedUsers', 'POST', '/authorized_users', {
    action: 'read',
    resource: { type: 'document', key: 'd1' },
  }),
  call('getAllowedTenants', 'POST', '/allowed/all-tenants', read),
  call('planAccess', 'POST', '/allowed/plan', {
    user: { key: 'alice' },
    action: 'read',
    resource: { type: 'document' },
    columns: { attributes: { owner: { type: 'string' } } },
  }),
  call('getUserTenants', 'POST', '/user-tenants', { user: { key: 'alice' } }),
  call('isAllowedNginx', 'GET', '/nginx_allowed', undefined, { headers: asked }),
  call('isAllowedNginxByPost', 'POST', '/nginx_allowed', undefined, { headers: asked }),
  call('isAllowedKong', 'POST', '/kong', {
    input: { request: { http: { method: 'GET', path: '/document' } }, consumer: { username: 'alice' } },
  }),
  call('isAllowedUrl', 'POST', '/allowed_url', {
    user: { key: 'alice' },
    http_method: 'GET',
    url: 'https://api.example.org/document',
    tenant: 'default',
  }),
  call('listLocalRoleAssignments', 'GET', '/local/role_assignments'),
  ...ENDPOINTS.map(path =>
    call(routes.find(route => route.path === path)!.operationId, 'POST', path, GOOD[path]),
  ),
  // A batch with an item that cannot be evaluated, and an empty batch.
  ...[[{ action: {} }], []].map(evaluations =>
    call('accessEvaluations', 'POST', EVALUATIONS, { ...GOOD[EVALUATIONS], evaluations }),
  ),
]

const REFERENCE_CALLS: readonly Call[] = [
  call('getDescription', 'GET', '/openapi.json'),
  call('getReference', 'GET', '/docs'),
  call('getConsole', 'GET', '/console'),
]

const OTHER_CALLS: readonly Call[] = [
  call('backUp', 'POST', '/v2/backup', undefined, { key: ADMIN_KEY }),
  call('authzenMetadata', 'GET', '/.well-known/authzen-configuration'),
  call('getEntrance', 'GET', '/'),
  call('getEntrance', 'GET', '/', undefined, { headers: { accept: 'text/html' } }),
  call('healthy', 'GET', '/healthy'),
  call('ready', 'GET', '/ready'),
  call('fresh', 'GET', '/fresh'),
  call('getMetrics', 'GET', '/metrics'),
  call('getNodes', 'GET', '/v2/nodes'),
  call('getRecentFigures', 'GET', '/v2/nodes/this/recent'),
  call('getApiKeyScope', 'GET', '/v2/api-key/scope'),
  call('listOrganizations', 'GET', '/v2/orgs?page=1'),
  call('getOrganization', 'GET', '/v2/orgs/default'),
  call('getActiveOrganization', 'GET', '/v2/orgs/active/org'),
  call('listUsersEverywhere', 'GET', '/v1/users'),
  call('listTenantsEverywhere', 'GET', '/v1/tenants'),
]

/**
 * Revokes the key with the id `apiKeyId`. Calls of members succeed if members can sign in and `members`
 * exist.
 */
export function exampleCalls(apiKeyId: string, members: Partial<ExampleMembers> = {}): Call[] {
  return [
    ...DECISION_CALLS,
    ...OTHER_CALLS,
    ...REFERENCE_CALLS,
    ...REFERENCE_CALLS.map(each => ({ ...each, headers: { 'if-none-match': '*' } })),
    ...MANAGEMENT_CALLS,
    ...organizationCalls(apiKeyId),
    ...memberCalls(members),
    call('listAuditEntries', 'GET', '/v2/audit-log/default/default?order=oldest'),
    call('listOrganizationAuditEntries', 'GET', '/v2/audit-log', undefined, { key: ADMIN_KEY }),
  ]
}
