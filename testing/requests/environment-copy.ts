/**
 * Replica of an environment that follows the change stream, and the lists of the management API in the same
 * form, to compare both. Events contain only the removed entity, so the replica also deletes its dependents.
 */
import type { ReadEvent } from './change-stream.ts'

// The API defines the fields of an item.
// oxlint-disable-next-line typescript/no-explicit-any
type Item = any

const NOUNS = [
  'user',
  'tenant',
  'resource_instance',
  'role_assignment',
  'relationship_tuple',
  'resource',
  'role',
  'relation',
  'condition_set',
  'set_rule',
  'proxy_config',
] as const
type Noun = (typeof NOUNS)[number]

export class EnvironmentCopy {
  readonly #things = new Map<Noun, Map<string, Item>>(NOUNS.map(noun => [noun, new Map()]))
  /** Number of times that all data had to be loaded again. */
  resets = 0

  /** Replaces all data with the contents of the lists. */
  load(lists: ReadonlyMap<Noun, readonly Item[]>): void {
    for (const noun of NOUNS) this.#things.set(noun, new Map(lists.get(noun)!.map(item => [item.id, item])))
  }

  apply({ event, value }: ReadEvent): void {
    const [noun, verb] = event.split('.') as [Noun, string | undefined]
    if (verb === undefined) return
    const { item } = value
    if (verb === 'deleted') this.#remove(noun, item.id)
    else {
      this.#of(noun).set(item.id, item)
      if (noun === 'resource') this.#dropRulesWithout(item)
    }
  }

  /** All data. The order has no meaning. */
  get all(): Readonly<Record<string, readonly Item[]>> {
    const told = Array.from(this.#things, ([noun, items]): [Noun, Item[]] => {
      const all = [...items.values()]
      return [noun, noun === 'resource' ? all.filter(isToldResource) : all]
    })
    return sortedById(new Map(told))
  }

  #of(noun: Noun): Map<string, Item> {
    return this.#things.get(noun)!
  }

  #remove(noun: Noun, id: string): void {
    const item = this.#of(noun).get(id)
    if (!item) return
    this.#of(noun).delete(id)
    const drop = (from: Noun, isGone: (other: Item) => boolean): void => {
      for (const other of this.#of(from).values()) if (isGone(other)) this.#remove(from, other.id)
    }
    switch (noun) {
      case 'user':
        drop('role_assignment', other => other.user_id === id)
        break
      case 'tenant':
        drop('resource_instance', other => other.tenant_id === id)
        drop('role_assignment', other => other.tenant_id === id)
        drop('relationship_tuple', other => other.tenant_id === id)
        break
      case 'resource_instance':
        drop('role_assignment', other => other.resource_instance_id === id)
        drop('relationship_tuple', other => other.subject_id === id || other.object_id === id)
        break
      case 'role':
        drop('role_assignment', other => other.role_id === id)
        if (item.resource === null) drop('set_rule', other => other.user_set === `__autogen_${item.key}`)
        break
      case 'relation':
        drop('relationship_tuple', other => other.relation_id === id)
        break
      case 'resource':
        drop('role', other => other.resource_id === id)
        drop('relation', other => other.object_resource_id === id || other.subject_resource_id === id)
        drop('condition_set', other => other.resource_id === id)
        drop('resource_instance', other => other.resource_id === id)
        drop('set_rule', other => other.permission.startsWith(`${item.key}:`))
        break
      case 'condition_set':
        drop('set_rule', other => other.user_set === item.key || other.resource_set === item.key)
        break
      default:
    }
  }

  /** When an action is removed, its rules are also removed. */
  #dropRulesWithout({ key, actions }: Item): void {
    for (const rule of this.#of('set_rule').values()) {
      const [type, action] = rule.permission.split(':')
      if (type === key && !Object.hasOwn(actions, action)) this.#of('set_rule').delete(rule.id)
    }
  }
}

/** Built-in resource types always exist, but the stream reports them only if they have attributes. */
function isToldResource({ key, attributes }: Item): boolean {
  return !key.startsWith('__') || Object.keys(attributes).length > 0
}

function sortedById(things: ReadonlyMap<string, readonly Item[]>) {
  return Object.fromEntries(
    Array.from(things, ([noun, items]) => [
      noun,
      items.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    ]),
  )
}

interface Lister {
  get(path: string): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }>
}

const SCHEMA = '/v2/schema/default/default'
const FACTS = '/v2/facts/default/default'

/** Contents of the lists of the management API, without entities that the stream does not report. */
export async function listedEnvironment(client: Lister): Promise<Map<Noun, Item[]>> {
  const pages = async (path: string): Promise<Item[]> => {
    const all: Item[] = []
    for (let page = 1; ; page++) {
      const { status, body } = await client.get(
        `${path}${path.includes('?') ? '&' : '?'}page=${page}&per_page=100`,
      )
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
      const items = Array.isArray(body) ? body : (body as { readonly data: Item[] }).data
      all.push(...items)
      if (items.length < 100) return all
    }
  }
  const resources = await pages(`${SCHEMA}/resources?include_built_in=true`)
  const role = (item: Item) => {
    const { granted_to: granted, ...rest } = item
    const entries = granted.users_with_role.map(
      ({ role_id: _role, resource_id: _resource, relation_id: _relation, ...entry }: Item) => entry,
    )
    return {
      resource: null,
      resource_id: null,
      ...rest,
      granted_to: { ...granted, users_with_role: entries },
    }
  }
  const roles = [
    ...(await pages(`${SCHEMA}/roles`)),
    ...resources.flatMap(({ roles: own }) => Object.values(own)),
  ]
  const relations = []
  for (const { key } of resources.filter(({ key: name }) => !name.startsWith('__'))) {
    relations.push(...(await pages(`${SCHEMA}/resources/${key}/relations`)))
  }
  const sets = await pages(`${SCHEMA}/condition_sets`)
  return new Map<Noun, Item[]>([
    [
      'user',
      (await pages(`${FACTS}/users`)).map(({ associated_tenants: _tenants, roles: _roles, ...user }) => user),
    ],
    ['tenant', await pages(`${FACTS}/tenants`)],
    [
      'resource_instance',
      (await pages(`${FACTS}/resource_instances`)).map(
        ({ relationships: _relationships, ...instance }) => instance,
      ),
    ],
    ['role_assignment', await pages(`${FACTS}/role_assignments`)],
    [
      'relationship_tuple',
      (await pages(`${FACTS}/relationship_tuples`)).map(
        ({ subject_details: _1, relation_details: _2, object_details: _3, tenant_details: _4, ...tuple }) =>
          tuple,
      ),
    ],
    [
      'resource',
      resources
        .filter(isToldResource)
        .map(({ roles: _roles, relations: _relations, ...resource }) => resource),
    ],
    ['role', roles.map(role)],
    ['relation', relations],
    [
      'condition_set',
      sets.filter(({ autogenerated }) => !autogenerated).map(({ resource: _resource, ...set }) => set),
    ],
    ['set_rule', await pages(`${FACTS}/set_rules`)],
    ['proxy_config', await pages(`${FACTS}/proxy_configs`)],
  ])
}

export function listedForm(lists: ReadonlyMap<Noun, readonly Item[]>) {
  return sortedById(lists)
}
