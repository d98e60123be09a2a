/** Lists of resource instances (native.md B.9). */
import type { ReadContext } from '#management/drafts/context.ts'
import { tenantFilter, typeFilter } from '#management/paging/fact-filters.ts'
import { arrayOrEnvelope, type Page } from '#management/paging/paging.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { attributeFilter, pageOfSelection, searchFilter } from '#management/paging/selection.ts'
import type { InstanceRecord } from '#entities/records.ts'
import type {
  DetailedResourceInstancesQuery,
  ResourceInstance,
  ResourceInstancesQuery,
} from '#entities/resource-instance.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { presentResourceInstance, withRelationships } from './resource-instance-presenter.ts'

export function* listResourceInstances(
  context: ReadContext,
  input: { readonly query: ResourceInstancesQuery },
): Resumable<Page<ResourceInstance> | ResourceInstance[]> {
  const { detailed = false, include_total_count: hasTotal = false } = input.query
  const page = yield* pageOfInstances(context, input.query, hasTotal)
  return arrayOrEnvelope(detailed ? yield* withDetails(context, page) : page, hasTotal)
}

export function* listDetailedResourceInstances(
  context: ReadContext,
  input: { readonly query: DetailedResourceInstancesQuery },
): Resumable<Page<ResourceInstance>> {
  return yield* withDetails(context, yield* pageOfInstances(context, input.query, true))
}

function pageOfInstances(
  context: ReadContext,
  query: DetailedResourceInstancesQuery,
  hasTotal: boolean,
): Resumable<Page<ResourceInstance>> {
  const { records } = context
  return pageOfSelection(records, {
    kind: 'instance',
    all: lists.all('instance'),
    filters: [
      tenantFilter(records, query.tenant, lists.instancesOfTenant),
      typeFilter(records, query.resource, lists.instancesOfType),
      searchFilter(query.search, ({ key }: InstanceRecord) => [key]),
      attributeFilter(query.attributes),
    ],
    paging: query,
    hasTotal,
    present: instance => presentResourceInstance(context, instance),
  })
}

/**
 * Adds the relationships to the instances of a page. One instance can have as many relationships as a page
 * has rows, so other work can run between two instances.
 */
function* withDetails(context: ReadContext, page: Page<ResourceInstance>): Resumable<Page<ResourceInstance>> {
  const data: ResourceInstance[] = []
  for (const instance of page.data) {
    data.push(yield* withRelationships(context, instance))
    yield
  }
  return { ...page, data }
}

export const reads = { listDetailedResourceInstances, listResourceInstances }
