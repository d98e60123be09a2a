/** Calls of the organization: projects, environments and keys. */
import { ADMIN_KEY } from '#testing/processes/running-service.ts'
import { content } from '../content.ts'
import { type Call, call } from './schema-calls.ts'

const PROJECTS = '/v2/projects'
const SHOP = `${PROJECTS}/shop`
const STAGING = `${SHOP}/envs/staging`
const KEYS = '/v2/api-key'

const CONTENT = content(
  { kind: 'resource', key: 'file', name: 'File', actions: { read: {} } },
  { kind: 'tenant', key: 'default', name: 'Default' },
)

/** One call of every operation, in an order in which each succeeds. Revokes the key with this id. */
export function organizationCalls(apiKeyId: string): Call[] {
  const calls: readonly Call[] = [
    call('createProject', 'POST', PROJECTS, {
      key: 'shop',
      name: 'Shop',
      urn_namespace: 'urn:shop',
      settings: { tier: 1 },
    }),
    call('listProjects', 'GET', `${PROJECTS}?search=sho&per_page=10`),
    call('getProject', 'GET', SHOP),
    call('updateProject', 'PATCH', SHOP, { description: 'Sells' }),
    call('createEnvironment', 'POST', `${SHOP}/envs`, {
      key: 'staging',
      name: 'Staging',
      jwks: { url: 'https://example.com' },
      settings: {},
    }),
    call('listEnvironments', 'GET', `${SHOP}/envs?page=1`),
    call('getEnvironment', 'GET', STAGING),
    call('updateEnvironment', 'PATCH', STAGING, { description: 'To try' }),
    call('getEnvironmentStats', 'GET', `${STAGING}/stats`),
    call('copyEnvironment', 'POST', `${PROJECTS}/default/envs/default/copy`, {
      target_env: { new: { key: 'copied', name: 'Copied' } },
      scope: { roles: { include: ['*'] } },
    }),
    call('createApiKey', 'POST', KEYS, {
      project_id: 'shop',
      environment_id: 'staging',
      name: 'Ours',
      owner_type: 'elements',
    }),
    call('createApiKey', 'POST', KEYS, { project_id: 'shop' }),
    call('createApiKey', 'POST', KEYS, {}),
    call('listApiKeys', 'GET', `${KEYS}?object_type=env&proj_id=shop`),
    call('getApiKey', 'GET', `${KEYS}/${apiKeyId}`),
    call('getEnvironmentApiKey', 'GET', `${KEYS}/shop/staging`),
    call('rotateApiKey', 'POST', `${KEYS}/${apiKeyId}/rotate-secret`),
    call('updateApiKey', 'PATCH', `${KEYS}/${apiKeyId}`, { name: 'Ours', access_level: 'admin' }),
    call('getApiKey', 'GET', `${KEYS}/${apiKeyId}`),
    call('deleteApiKey', 'DELETE', `${KEYS}/${apiKeyId}`),
    call('importContent', 'POST', `${STAGING}/import`, undefined, { text: CONTENT }),
    call('importContent', 'POST', `${STAGING}/import?replace=true`, undefined, { text: CONTENT }),
    call('exportContent', 'GET', `${STAGING}/export`),
    call('exportContent', 'GET', `${PROJECTS}/default/envs/default/export`),
    call('deleteEnvironment', 'DELETE', STAGING),
    call('deleteProject', 'DELETE', SHOP),
  ]
  return calls.map(each => ({ ...each, key: ADMIN_KEY }))
}
