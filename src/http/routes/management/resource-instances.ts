/** Resource instances (native.md B.9). */
import type { Route } from '#http/routing/route.ts'
import { BulkIdents } from '#model/wire/references.ts'
import { Empty } from '#model/wire/common-fields.ts'
import {
  DetailedResourceInstancesQuery,
  ResourceInstance,
  ResourceInstanceCreate,
  ResourceInstanceEnvelope,
  ResourceInstanceList,
  ResourceInstancePath,
  ResourceInstanceQuery,
  ResourceInstancesBulk,
  ResourceInstancesPath,
  ResourceInstancesQuery,
  ResourceInstanceUpdate,
} from '#entities/resource-instance.ts'
import { FACTS_BASE, type Manage } from './managed.ts'

const INSTANCES = `${FACTS_BASE}/resource_instances`
const INSTANCE = `${INSTANCES}/{instance_id}`
const BULK = `${FACTS_BASE}/bulk/resource_instances`

export function resourceInstanceRoutes(manage: Manage): Route[] {
  return [
    manage({
      operation: 'listResourceInstances',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: INSTANCES,
      summary: 'List resource instances',
      params: ResourceInstancesPath,
      query: ResourceInstancesQuery,
      answer: ResourceInstanceList,
    }),
    manage({
      operation: 'listDetailedResourceInstances',
      level: 'read',
      method: 'GET',
      path: `${INSTANCES}/detailed`,
      summary: 'List resource instances with their relationships',
      params: ResourceInstancesPath,
      query: DetailedResourceInstancesQuery,
      answer: ResourceInstanceEnvelope,
    }),
    manage({
      operation: 'createResourceInstance',
      level: 'write_facts',
      method: 'POST',
      path: INSTANCES,
      summary: 'Create a resource instance',
      params: ResourceInstancesPath,
      body: ResourceInstanceCreate,
      answer: ResourceInstance,
    }),
    manage({
      operation: 'getResourceInstance',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: INSTANCE,
      summary: 'Read a resource instance',
      params: ResourceInstancePath,
      thing: 'getResourceInstance',
      query: ResourceInstanceQuery,
      answer: ResourceInstance,
    }),
    manage({
      operation: 'updateResourceInstance',
      level: 'write_facts',
      method: 'PATCH',
      path: INSTANCE,
      summary: 'Change the attributes of a resource instance',
      params: ResourceInstancePath,
      thing: 'getResourceInstance',
      body: ResourceInstanceUpdate,
      answer: ResourceInstance,
    }),
    manage({
      operation: 'deleteResourceInstance',
      level: 'write_facts',
      method: 'DELETE',
      path: INSTANCE,
      summary: 'Delete a resource instance, its roles and its relationships',
      params: ResourceInstancePath,
      thing: 'getResourceInstance',
    }),
    manage({
      operation: 'replaceResourceInstances',
      level: 'write_facts',
      method: 'PUT',
      path: BULK,
      summary: 'Create resource instances or replace their attributes, all or none',
      params: ResourceInstancesPath,
      body: ResourceInstancesBulk,
      answer: Empty,
    }),
    manage({
      operation: 'deleteResourceInstances',
      level: 'write_facts',
      method: 'DELETE',
      path: BULK,
      summary: 'Delete resource instances, all or none',
      params: ResourceInstancesPath,
      body: BulkIdents,
      answer: Empty,
    }),
  ]
}
