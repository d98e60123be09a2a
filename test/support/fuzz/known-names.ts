/**
 * The names that random requests are filled with: keys and ids of what is really there, those that answers told of, and new ones.
 * Which kind of thing a parameter or a member names follows from what it is called.
 */
import type { Random } from '#testing/data/random.ts'

export type Kind =
  | 'action'
  | 'action group'
  | 'api key'
  | 'attribute'
  | 'environment'
  | 'group'
  | 'instance'
  | 'instance key'
  | 'organization'
  | 'permission'
  | 'project'
  | 'relation'
  | 'resource'
  | 'resource role'
  | 'resource set'
  | 'role'
  | 'set'
  | 'subject type'
  | 'tenant'
  | 'tenant role'
  | 'user'
  | 'user attribute'
  | 'user set'

/** What is called so, anywhere or somewhere within a member or a path of some name. */
const CALLED: Readonly<Record<Kind, readonly string[]>> = {
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
}
const KIND_OF = new Map(
  Object.entries(CALLED).flatMap(([kind, names]) => names.map(name => [name, kind as Kind] as const)),
)
/** How many names that answers told of are kept of each kind. */
const TOLD_MAX = 12

/** The kind of thing that a name stands for at the end of this way; null where it is no name of a thing. What is nearer counts. */
export function kindAt(way: readonly string[]): Kind | null {
  const name = way.at(-1) ?? ''
  const within = way.slice(0, -1).findLast(each => KIND_OF.has(`${each}.${name}`))
  return KIND_OF.get(within === undefined ? name : `${within}.${name}`) ?? null
}

export class KnownNames {
  readonly #random: Random
  readonly #lasting: Readonly<Partial<Record<Kind, readonly string[]>>>
  readonly #told = new Map<Kind, string[]>()
  #made = 0

  /** `lasting`: what is there, or is made again when it is gone. */
  constructor(random: Random, lasting: Readonly<Partial<Record<Kind, readonly string[]>>>) {
    this.#random = random
    this.#lasting = lasting
  }

  /** One of that kind: mostly of those that last, then of those that were told of, now and then one there never was. */
  pick(kind: Kind, lastingShare = 0.75): string {
    const lasting = this.#lasting[kind] ?? []
    const told = this.#told.get(kind) ?? []
    if (this.#random.chance(0.03) || lasting.length + told.length === 0) return this.made()
    const isLasting = told.length === 0 || (lasting.length > 0 && this.#random.chance(lastingShare))
    return this.#random.pick(isLasting ? lasting : told)
  }

  /** A key that nothing has. */
  made(): string {
    this.#made += 1
    return `k${this.#made}${this.#random.pick(['', '-', '_x', 'Z'])}`
  }

  /** Remembers a name for some time. */
  tell(kind: Kind, name: string): void {
    const told = this.#told.get(kind) ?? []
    this.#told.set(kind, told)
    if (told.includes(name)) return
    if (told.length < TOLD_MAX) told.push(name)
    else told[this.#random.below(TOLD_MAX)] = name
  }
}
