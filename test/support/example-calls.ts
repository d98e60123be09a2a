/** One call of every operation there is, at least, in an order in which each succeeds. */
import { ENDPOINTS, GOOD } from './access-requests.ts'
import { MANAGEMENT_CALLS } from './management-calls.ts'
import { organizationCalls } from './organization-calls.ts'
import { ADMIN_KEY, question } from '#testing/processes/running-service.ts'
import { routes } from '#testing/requests/routes.ts'
import type { Call } from './schema-calls.ts'

const read = question('alice', 'read', 'document:d1')
const asked = {
  'permit-user-key': 'alice',
  'permit-tenant-id': 'default',
  'permit-action': 'pass',
  'permit-resource-type': 'gate',
}

const DECISION_CALLS: readonly Call[] = [
  { operation: 'isAllowed', method: 'POST', path: '/allowed', body: read },
  { operation: 'explainAllowed', method: 'POST', path: '/allowed/explain', body: read },
  { operation: 'isAllowedBulk', method: 'POST', path: '/allowed/bulk', body: [read, read] },
  {
    operation: 'getUserPermissions',
    method: 'POST',
    path: '/user-permissions',
    body: { user: { key: 'alice' } },
  },
  {
    operation: 'getAuthorizedUsers',
    method: 'POST',
    path: '/authorized_users',
    body: { action: 'read', resource: { type: 'document', key: 'd1' } },
  },
  { operation: 'getAllowedTenants', method: 'POST', path: '/allowed/all-tenants', body: read },
  { operation: 'getUserTenants', method: 'POST', path: '/user-tenants', body: { user: { key: 'alice' } } },
  { operation: 'isAllowedNginx', method: 'GET', path: '/nginx_allowed', headers: asked },
  { operation: 'isAllowedNginxByPost', method: 'POST', path: '/nginx_allowed', headers: asked },
  {
    operation: 'isAllowedKong',
    method: 'POST',
    path: '/kong',
    body: {
      input: { request: { http: { method: 'GET', path: '/document' } }, consumer: { username: 'alice' } },
    },
  },
  {
    operation: 'isAllowedUrl',
    method: 'POST',
    path: '/allowed_url',
    body: {
      user: { key: 'alice' },
      http_method: 'GET',
      url: 'https://api.example.org/document',
      tenant: 'default',
    },
  },
  { operation: 'listLocalRoleAssignments', method: 'GET', path: '/local/role_assignments' },
  ...ENDPOINTS.map(path => ({
    operation: routes.find(route => route.path === path)!.operationId,
    method: 'POST',
    path,
    body: GOOD[path],
  })),
  // An item that cannot be evaluated, and a batch that is none.
  {
    operation: 'accessEvaluations',
    method: 'POST',
    path: '/access/v1/evaluations',
    body: { ...GOOD['/access/v1/evaluations'], evaluations: [{ action: {} }] },
  },
  {
    operation: 'accessEvaluations',
    method: 'POST',
    path: '/access/v1/evaluations',
    body: { ...GOOD['/access/v1/evaluations'], evaluations: [] },
  },
]

const REFERENCE_CALLS: readonly Call[] = [
  { operation: 'getDescription', method: 'GET', path: '/openapi.json' },
  { operation: 'getReference', method: 'GET', path: '/docs' },
  { operation: 'getConsole', method: 'GET', path: '/console' },
]

const OTHER_CALLS: readonly Call[] = [
  { operation: 'backUp', method: 'POST', path: '/v2/backup', key: ADMIN_KEY },
  { operation: 'authzenMetadata', method: 'GET', path: '/.well-known/authzen-configuration' },
  { operation: 'getEntrance', method: 'GET', path: '/' },
  { operation: 'getEntrance', method: 'GET', path: '/', headers: { accept: 'text/html' } },
  { operation: 'healthy', method: 'GET', path: '/healthy' },
  { operation: 'ready', method: 'GET', path: '/ready' },
  { operation: 'fresh', method: 'GET', path: '/fresh' },
  { operation: 'getMetrics', method: 'GET', path: '/metrics' },
  { operation: 'getNodes', method: 'GET', path: '/v2/nodes' },
  { operation: 'getRecentFigures', method: 'GET', path: '/v2/nodes/this/recent' },
  { operation: 'getApiKeyScope', method: 'GET', path: '/v2/api-key/scope' },
  { operation: 'listOrganizations', method: 'GET', path: '/v2/orgs?page=1' },
  { operation: 'getOrganization', method: 'GET', path: '/v2/orgs/default' },
  { operation: 'getActiveOrganization', method: 'GET', path: '/v2/orgs/active/org' },
  { operation: 'listMembers', method: 'GET', path: '/v2/members?search=ann' },
  { operation: 'listUsersEverywhere', method: 'GET', path: '/v1/users' },
  { operation: 'listTenantsEverywhere', method: 'GET', path: '/v1/tenants' },
]

/** `apiKeyId` is that of a key that is revoked on the way. */
export function exampleCalls(apiKeyId: string): Call[] {
  return [
    ...DECISION_CALLS,
    ...OTHER_CALLS,
    ...REFERENCE_CALLS,
    ...REFERENCE_CALLS.map(call => ({ ...call, headers: { 'if-none-match': '*' } })),
    ...MANAGEMENT_CALLS,
    ...organizationCalls(apiKeyId),
    { operation: 'listAuditEntries', method: 'GET', path: '/v2/audit-log/default/default?order=oldest' },
    { operation: 'listOrganizationAuditEntries', method: 'GET', path: '/v2/audit-log', key: ADMIN_KEY },
  ]
}
