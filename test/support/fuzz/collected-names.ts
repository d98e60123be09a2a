/** Collects names from responses for later requests. */
import type { Kind, KnownNames } from './known-names.ts'
import type { Operation } from './drawn-requests.ts'

/** Kind of the items of a response, selected by the last path segment that this list contains. */
const KINDS: Readonly<Record<string, Kind>> = {
  action_groups: 'action group',
  actions: 'action',
  'api-key': 'api key',
  attributes: 'attribute',
  condition_sets: 'set',
  envs: 'environment',
  groups: 'group',
  orgs: 'organization',
  projects: 'project',
  relations: 'relation',
  resource_instances: 'instance',
  resources: 'resource',
  roles: 'role',
  tenants: 'tenant',
  users: 'user',
}

interface Item {
  readonly id?: unknown
  readonly key?: unknown
  readonly type?: unknown
  readonly resource?: unknown
  readonly group_resource_type_key?: unknown
  readonly group_instance_key?: unknown
}

/** Stores ids and keys of the items of a successful response. */
export function collectNames(names: KnownNames, { path }: Operation, body: unknown): void {
  const part = path.split('/').findLast(each => each in KINDS)
  const kind = part === undefined ? undefined : KINDS[part]
  if (kind === undefined) return
  const ofRole = path.includes('/resources/') ? 'resource role' : 'tenant role'
  for (const item of itemsOf(body).slice(0, 3)) {
    if (kind === 'role' && typeof item.key === 'string') names.collect(ofRole, item.key)
    if (typeof item.id === 'string') names.collect(kind, item.id)
    if (kind === 'instance') collectInstance(names, item.resource, item.key)
    else if (kind === 'group') collectInstance(names, item.group_resource_type_key, item.group_instance_key)
    else if (typeof item.key === 'string') names.collect(kind, item.key)
    if (kind === 'set' && typeof item.key === 'string') {
      names.collect(item.type === 'userset' ? 'user set' : 'resource set', item.key)
    }
    if (kind === 'group' && typeof item.group_instance_key === 'string') {
      names.collect('group', item.group_instance_key)
    }
  }
}

function collectInstance(names: KnownNames, type: unknown, key: unknown): void {
  if (typeof type !== 'string' || typeof key !== 'string') return
  names.collect('instance', `${type}:${key}`)
  names.collect('instance key', key)
}

function itemsOf(body: unknown): readonly Item[] {
  if (Array.isArray(body)) return body as Item[]
  if (typeof body !== 'object' || body === null) return []
  const { data } = body as { readonly data?: unknown }
  return Array.isArray(data) ? (data as Item[]) : [body]
}
