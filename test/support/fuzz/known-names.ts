/**
 * Names for random requests: keys and ids of existing entities, of entities in responses, and new ones. The
 * name of a parameter or member determines the kind of the entity.
 */
import type { Random } from '#testing/data/random.ts'

export type Kind = keyof typeof CALLED

/** Names of parameters and members for each kind. `a.b` is a name `b` within a member or path `a`. */
const CALLED = {
  action: ['action', 'action_id', 'actions', 'action.name', 'Permit-Action'],
  'action group': ['action_group_id', 'action_groups'],
  'api key': ['api_key_id'],
  attribute: ['attribute_id', 'attributes'],
  environment: ['env_id', 'environment_id', 'existing'],
  group: ['group_instance_key'],
  instance: [
    'resource_instance',
    'instance_id',
    'subject',
    'object',
    'resources',
    'resource_instances.idents',
  ],
  'instance key': ['resource.key', 'resource.id', 'Permit-Resource-Key'],
  organization: ['org_id', 'organization_id'],
  permission: ['permission', 'permissions'],
  project: ['proj_id', 'project_id'],
  relation: ['relation', 'relation_id', 'linked_by_relation'],
  resource: [
    'resource',
    'resource_id',
    'on_resource',
    'subject_resource',
    'relations',
    'resource.type',
    'resource_types',
    'subject_type',
    'object_type',
    'group_resource_type_key',
    'Permit-Resource-Type',
  ],
  'resource role': ['resources.role_id', 'resources.parent_role_id', 'resources.extends'],
  'resource set': ['resource_set', 'resource_sets'],
  role: ['role', 'roles'],
  set: ['condition_set_id', 'parent_id'],
  'subject type': ['subject.type'],
  tenant: ['tenant', 'tenant_id', 'group_tenant', 'tenants', 'tenants.idents', 'Permit-Tenant-Id'],
  'tenant role': ['role_id', 'parent_role_id', 'extends'],
  user: ['user', 'user_id', 'user.key', 'username', 'subject.id', 'users.idents', 'Permit-User-Key'],
  'user attribute': ['users.attribute_id'],
  'user set': ['user_set', 'user_sets'],
} satisfies Readonly<Record<string, readonly string[]>>
const KIND_OF = new Map(
  Object.entries(CALLED).flatMap(([kind, names]) => names.map(name => [name, kind as Kind] as const)),
)
/** Number of names from responses that are kept for each kind. */
const COLLECTED_MAX = 12

/** The kind of entity that the last name of the path refers to, or null. The nearest outer name decides. */
export function kindAt(way: readonly string[]): Kind | null {
  const name = way.at(-1) ?? ''
  const within = way.slice(0, -1).findLast(each => KIND_OF.has(`${each}.${name}`))
  return KIND_OF.get(within === undefined ? name : `${within}.${name}`) ?? null
}

export class KnownNames {
  readonly #random: Random
  readonly #lasting: Readonly<Partial<Record<Kind, readonly string[]>>>
  readonly #collected = new Map<Kind, string[]>()
  #made = 0

  /** `lasting` contains names of entities that exist or are re-created. */
  constructor(random: Random, lasting: Readonly<Partial<Record<Kind, readonly string[]>>>) {
    this.#random = random
    this.#lasting = lasting
  }

  /** A name of this kind: mostly a lasting name, otherwise a name from responses, rarely an unknown name. */
  pick(kind: Kind, lastingShare = 0.75): string {
    const lasting = this.#lasting[kind] ?? []
    const collected = this.#collected.get(kind) ?? []
    if (this.#random.chance(0.03) || lasting.length + collected.length === 0) return this.made()
    const isLasting = collected.length === 0 || (lasting.length > 0 && this.#random.chance(lastingShare))
    return this.#random.pick(isLasting ? lasting : collected)
  }

  /** An unused key. */
  made(): string {
    this.#made += 1
    return `k${this.#made}${this.#random.pick(['', '-', '_x', 'Z'])}`
  }

  /** Stores a name until newer names replace it. */
  collect(kind: Kind, name: string): void {
    const collected = this.#collected.get(kind) ?? []
    this.#collected.set(kind, collected)
    if (collected.includes(name)) return
    if (collected.length < COLLECTED_MAX) collected.push(name)
    else collected[this.#random.below(COLLECTED_MAX)] = name
  }
}
