/** What the caller's own key is for (contract B.2): the first call of every SDK. */
import { assert } from '#model/assert.ts'
import { ApiKeyScope } from '#model/wire/api-key.ts'
import { defineRoute, type Route } from '../route.ts'

export const apiKeyScopeRoute: Route = defineRoute({
  method: 'GET',
  path: '/v2/api-key/scope',
  operationId: 'getApiKeyScope',
  summary: 'The organization, project and environment of the key in use',
  family: 'management',
  access: 'any-key',
  responses: { 200: { description: 'The scope; an organization key has no project.', schema: ApiKeyScope } },
  handle: ({ principal }) => {
    assert(principal, 'a route for any key has a caller')
    const isEnvironment = principal.kind === 'environment'
    return {
      status: 200,
      body: {
        organization_id: principal.organizationId,
        project_id: isEnvironment ? principal.projectId : null,
        environment_id: isEnvironment ? principal.environmentId : null,
      },
    }
  },
})
