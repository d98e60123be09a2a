/** Resource types (native.md B.4). The routes for their parts and roles are in separate files. */
import type { Route } from '#http/routing/route.ts'
import {
  Resource,
  ResourceCreate,
  ResourceList,
  ResourcePath,
  ResourceReplace,
  ResourcesPath,
  ResourcesQuery,
  ResourceUpdate,
} from '#entities/resource.ts'
import { managed, type ManagementGateway, SCHEMA_BASE } from './managed.ts'

const RESOURCES = `${SCHEMA_BASE}/resources`

export function resourceRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const all = { path: RESOURCES, params: ResourcesPath }
  const one = { path: `${RESOURCES}/{resource_id}`, params: ResourcePath, thing: 'getResource' } as const
  return [
    manage({
      ...all,
      operation: 'createResource',
      level: 'write',
      method: 'POST',
      summary: 'Create a resource, with its actions, roles and relations',
      body: ResourceCreate,
      answer: Resource,
    }),
    manage({
      ...all,
      operation: 'listResources',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      summary: 'List resources',
      query: ResourcesQuery,
      answer: ResourceList,
    }),
    manage({
      ...one,
      operation: 'getResource',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      summary: 'Read a resource',
      answer: Resource,
    }),
    manage({
      ...one,
      operation: 'replaceResource',
      level: 'write',
      method: 'PUT',
      summary: 'Create a resource or replace its whole definition',
      body: ResourceReplace,
      refusals: [409],
      answer: Resource,
    }),
    manage({
      ...one,
      operation: 'updateResource',
      level: 'write',
      method: 'PATCH',
      summary: 'Change a resource; each given field replaces the whole old value',
      body: ResourceUpdate,
      answer: Resource,
    }),
    manage({
      ...one,
      operation: 'deleteResource',
      level: 'write',
      method: 'DELETE',
      summary: 'Delete a resource, everything that belongs to it, and all references to it',
    }),
  ]
}
