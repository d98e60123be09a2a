/** Calls about the organization: projects, environments and keys. */
import { ADMIN_KEY } from '#testing/processes/running-service.ts'
import type { Call } from './schema-calls.ts'

/** What they need as a body, with one of the right shape about things that need not exist. */
export const ORGANIZATION_BODIES: Readonly<Record<string, unknown>> = {
  createApiKey: { project_id: 'default', environment_id: 'default' },
  createProject: { key: 'default', name: 'Default' },
  updateProject: {},
  createEnvironment: { key: 'default', name: 'Default' },
  updateEnvironment: {},
  copyEnvironment: { target_env: { existing: 'nothing' } },
  copyEnvironmentAsync: { target_env: { existing: 'nothing' } },
}

const PROJECTS = '/v2/projects'
const SHOP = `${PROJECTS}/shop`
const STAGING = `${SHOP}/envs/staging`
const KEYS = '/v2/api-key'

const CONTENT = [
  { kind: 'environment', format: 1 },
  { kind: 'resource', key: 'file', name: 'File', actions: { read: {} } },
  { kind: 'tenant', key: 'default', name: 'Default' },
  { kind: 'end', lines: 3 },
]
  .map(line => `${JSON.stringify(line)}\n`)
  .join('')

/** One of every operation, in an order in which each succeeds; `apiKeyId` is that of a key that is revoked here. */
export function organizationCalls(apiKeyId: string): Call[] {
  const calls: readonly Call[] = [
    {
      operation: 'createProject',
      method: 'POST',
      path: PROJECTS,
      body: { key: 'shop', name: 'Shop', urn_namespace: 'urn:shop', settings: { tier: 1 } },
    },
    { operation: 'listProjects', method: 'GET', path: `${PROJECTS}?search=sho&per_page=10` },
    { operation: 'getProject', method: 'GET', path: SHOP },
    { operation: 'updateProject', method: 'PATCH', path: SHOP, body: { description: 'Sells' } },
    {
      operation: 'createEnvironment',
      method: 'POST',
      path: `${SHOP}/envs`,
      body: { key: 'staging', name: 'Staging', jwks: { url: 'https://example.com' }, settings: {} },
    },
    { operation: 'listEnvironments', method: 'GET', path: `${SHOP}/envs?page=1` },
    { operation: 'getEnvironment', method: 'GET', path: STAGING },
    { operation: 'updateEnvironment', method: 'PATCH', path: STAGING, body: { description: 'To try' } },
    { operation: 'getEnvironmentStats', method: 'GET', path: `${STAGING}/stats` },
    {
      operation: 'copyEnvironment',
      method: 'POST',
      path: `${PROJECTS}/default/envs/default/copy`,
      body: { target_env: { new: { key: 'copied', name: 'Copied' } }, scope: { roles: { include: ['*'] } } },
    },
    {
      operation: 'createApiKey',
      method: 'POST',
      path: KEYS,
      body: { project_id: 'shop', environment_id: 'staging', name: 'Ours', owner_type: 'elements' },
    },
    { operation: 'createApiKey', method: 'POST', path: KEYS, body: { project_id: 'shop' } },
    { operation: 'createApiKey', method: 'POST', path: KEYS, body: {} },
    { operation: 'listApiKeys', method: 'GET', path: `${KEYS}?object_type=env&proj_id=shop` },
    { operation: 'getApiKey', method: 'GET', path: `${KEYS}/${apiKeyId}` },
    { operation: 'getEnvironmentApiKey', method: 'GET', path: `${KEYS}/shop/staging` },
    { operation: 'rotateApiKey', method: 'POST', path: `${KEYS}/${apiKeyId}/rotate-secret` },
    { operation: 'getApiKey', method: 'GET', path: `${KEYS}/${apiKeyId}` },
    { operation: 'deleteApiKey', method: 'DELETE', path: `${KEYS}/${apiKeyId}` },
    { operation: 'importContent', method: 'POST', path: `${STAGING}/import`, text: CONTENT },
    { operation: 'importContent', method: 'POST', path: `${STAGING}/import?replace=true`, text: CONTENT },
    { operation: 'exportContent', method: 'GET', path: `${STAGING}/export` },
    { operation: 'exportContent', method: 'GET', path: `${PROJECTS}/default/envs/default/export` },
    { operation: 'deleteEnvironment', method: 'DELETE', path: STAGING },
    { operation: 'deleteProject', method: 'DELETE', path: SHOP },
  ]
  return calls.map(call => ({ ...call, key: ADMIN_KEY }))
}
