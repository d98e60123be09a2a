/**
 * API keys. The first route returns the scope of the client's key (native.md B.2), which every SDK calls
 * first. The other routes manage keys (native.md B.13).
 */
import { REVISION } from '#http/message/header-fields.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { assert } from '#model/assert.ts'
import {
  ApiKey,
  ApiKeyCreate,
  ApiKeyEnvelope,
  ApiKeyPath,
  ApiKeyRotation,
  ApiKeyScope,
  ApiKeysQuery,
  ApiKeyUpdate,
} from '#model/wire/organization/api-key.ts'
import { EnvironmentPath } from '#model/wire/organization/environment.ts'
import type { ManageOrganization } from './managed.ts'

const API_KEYS = '/v2/api-key'
const API_KEY = `${API_KEYS}/{api_key_id}`

/**
 * `revision`: returns the revision of the API keys of the organization that this thread has; null if it is
 * unknown.
 */
export function apiKeyScopeRoute(revision: () => string | null): Route {
  const description = 'The scope; an organization key has no project.'
  return defineRoute({
    method: 'GET',
    path: `${API_KEYS}/scope`,
    operationId: 'getApiKeyScope',
    level: 'no_access',
    delegated: 'read',
    summary: 'Read the organization, project, environment and access level of the API key',
    family: 'management',
    access: 'any-key',
    responses: { 200: { description, schema: ApiKeyScope, headers: [REVISION] } },
    handle: ({ principal }) => {
      assert(principal, 'a route for any key has a caller')
      const known = revision()
      const { kind } = principal
      return {
        status: 200,
        body: {
          organization_id: principal.organizationId,
          project_id: kind === 'project' || kind === 'environment' ? principal.projectId : null,
          environment_id: kind === 'environment' ? principal.environmentId : null,
          // A session without a grant on the organization has no level there (administration.md C11).
          access_level: kind === 'places' ? 'no_access' : principal.level,
          // Only keys have limits here, and a key has one grant.
          ...principal.delegations?.[0],
        },
        // During startup, a thread can have the keys before it knows their revision. The response then has no
        // `X-Revision` header, so that clients can already make this call.
        ...(known !== null && { headers: { 'x-revision': known } }),
      }
    },
  })
}

export function apiKeyRoutes(manage: ManageOrganization): Route[] {
  return [
    manage({
      operation: 'listApiKeys',
      level: 'read',
      method: 'GET',
      path: API_KEYS,
      summary: 'List the API keys that this API key can manage, without their secrets',
      access: 'project',
      query: ApiKeysQuery,
      answer: ApiKeyEnvelope,
      refusals: [404],
    }),
    manage({
      operation: 'createApiKey',
      level: 'admin',
      method: 'POST',
      path: API_KEYS,
      summary: 'Create an API key; the response contains its secret',
      access: 'project',
      body: ApiKeyCreate,
      answer: ApiKey,
      refusals: [404],
    }),
    manage({
      operation: 'getApiKey',
      level: 'read',
      method: 'GET',
      path: API_KEY,
      summary: 'Read an API key, without its secret',
      access: 'project',
      params: ApiKeyPath,
      answer: ApiKey,
    }),
    manage({
      operation: 'updateApiKey',
      level: 'admin',
      method: 'PATCH',
      path: API_KEY,
      summary: 'Change the name or the access level of an API key',
      access: 'project',
      params: ApiKeyPath,
      body: ApiKeyUpdate,
      answer: ApiKey,
    }),
    manage({
      operation: 'deleteApiKey',
      level: 'admin',
      method: 'DELETE',
      path: API_KEY,
      summary: 'Revoke an API key',
      access: 'project',
      params: ApiKeyPath,
    }),
    manage({
      operation: 'rotateApiKey',
      level: 'admin',
      method: 'POST',
      path: `${API_KEY}/rotate-secret`,
      summary: 'Replace the secret of an API key; the old one remains valid for a while',
      access: 'project',
      params: ApiKeyPath,
      optionalBody: ApiKeyRotation,
      answer: ApiKey,
    }),
    manage({
      operation: 'getEnvironmentApiKey',
      level: 'admin',
      method: 'GET',
      path: `${API_KEYS}/{proj_id}/{env_id}`,
      summary:
        'Read the oldest API key with the highest level of an environment, with its secret if it can be decrypted',
      access: 'organization',
      params: EnvironmentPath,
      answer: ApiKey,
    }),
  ]
}
