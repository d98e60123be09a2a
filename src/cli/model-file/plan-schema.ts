/** Plans changes of the model: resources with their parts, and roles. */
import { TENANT_TYPE_KEY } from '#model/built-in-types.ts'
import {
  type EnvironmentState,
  type EntityFields,
  type ResourceState,
  type RoleState,
} from './environment-state.ts'
import type { Finding } from './findings.ts'
import type { ValuePath } from './located-value.ts'
import {
  changedFields,
  PHASES,
  type PlannedRequest,
  type PruneOptions,
  setDetails,
  type Step,
} from './plan-step.ts'

const { resources, parts, relations, roles, extensions, derivations, derivationRemovals, removals } = PHASES

/** Entities that have attributes but are not resources. */
const CARRIERS = [
  { what: 'user attribute', path: 'users/attributes', part: 'userAttributes', section: 'user_attributes' },
  {
    what: 'tenant attribute',
    path: `resources/${TENANT_TYPE_KEY}/attributes`,
    part: 'tenantAttributes',
    section: 'tenant_attributes',
  },
] as const

export function planSchema(
  current: EnvironmentState,
  desired: EnvironmentState,
  prune: PruneOptions,
  conflicts: Finding[],
): Step[] {
  const steps = CARRIERS.flatMap(({ what, path, part, section }) =>
    planParts(what, path, current[part], desired[part], [section]),
  )
  for (const [key, resource] of desired.resources)
    steps.push(...planResource(key, current.resources.get(key), resource, prune, conflicts))
  for (const [key, role] of desired.roles) steps.push(...planRole(null, key, current.roles.get(key), role))
  return steps
}

function planResource(
  key: string,
  there: ResourceState | undefined,
  desired: ResourceState,
  prune: PruneOptions,
  conflicts: Finding[],
): Step[] {
  const steps: Step[] = []
  const path = `resources/${key}`
  const location = ['resources', key]
  if (there) {
    const { changed, details } = changedFields(there.fields, desired.fields)
    if (details.length > 0)
      steps.push(step('~', `resource ${key}`, location, details, request(parts, 'PATCH', path, changed)))
    const { actions, attributes } = desired
    steps.push(
      ...planParts(`action ${key}:`, `${path}/actions`, there.actions, actions, [...location, 'actions']),
    )
    steps.push(
      ...planParts(`attribute ${key}.`, `${path}/attributes`, there.attributes, attributes, [
        ...location,
        'attributes',
      ]),
    )
  } else {
    const body = {
      key,
      name: key,
      ...desired.fields,
      actions: Object.fromEntries(desired.actions),
      attributes: Object.fromEntries(desired.attributes),
    }
    const actions = [...desired.actions.keys()]
    const details = actions.length > 0 ? [`actions: ${actions.join(', ')}`] : []
    steps.push(step('+', `resource ${key}`, location, details, request(resources, 'POST', 'resources', body)))
  }
  for (const [relation, subject] of desired.relations) {
    const existing = there?.relations.get(relation)
    if (existing === subject) continue
    const name = `relation ${key}.${relation}`
    const made = request(relations, 'POST', `${path}/relations`, {
      key: relation,
      name: relation,
      subject_resource: subject,
    })
    const where = [...location, 'relations', relation]
    if (existing === undefined) steps.push(step('+', `${name} from ${subject}`, where, [], made))
    else if (prune.model) {
      const removed = request(relations, 'DELETE', `${path}/relations/${relation}`)
      steps.push(
        step('~', name, where, [`from: ${existing} → ${subject}, its tuples are removed`], removed, made),
      )
    } else {
      const message = `${name} comes from ${existing} and should come from ${subject}: this also deletes its tuples, so it requires --prune`
      conflicts.push({ location: where, message, isAboutKey: true })
    }
  }
  for (const [role, block] of desired.roles) steps.push(...planRole(key, role, there?.roles.get(role), block))
  return steps
}

/** Plans the changes of all parts of one kind. Each part is created or changed by its own request. */
function planParts(
  what: string,
  path: string,
  there: ReadonlyMap<string, EntityFields>,
  desired: ReadonlyMap<string, EntityFields>,
  location: ValuePath,
): Step[] {
  const named = (key: string) => (/[:.]$/.test(what) ? `${what}${key}` : `${what} ${key}`)
  const withName = (key: string, fields: EntityFields) =>
    'type' in fields ? { key, ...fields } : { key, name: key, ...fields }
  return [...desired].flatMap(([key, fields]) => {
    const existing = there.get(key)
    const where = [...location, key]
    if (!existing)
      return [step('+', named(key), where, [], request(parts, 'POST', path, withName(key, fields)))]
    const { changed, details } = changedFields(existing, fields)
    return details.length === 0
      ? []
      : [step('~', named(key), where, details, request(parts, 'PATCH', `${path}/${key}`, changed))]
  })
}

function planRole(
  type: string | null,
  key: string,
  there: RoleState | undefined,
  desired: RoleState,
): Step[] {
  const path = type === null ? 'roles' : `resources/${type}/roles`
  const what = type === null ? `role ${key}` : `role ${type}#${key}`
  const permissions = [...desired.permissions]
  const requests: PlannedRequest[] = []
  const details: string[] = []
  if (there) {
    const fields = changedFields(there.fields, desired.fields)
    const differing = setDetails('permissions', there.permissions, desired.permissions)
    details.push(...fields.details, ...differing)
    const changed = { ...fields.changed, ...(differing.length > 0 && { permissions }) }
    if (Object.keys(changed).length > 0) requests.push(request(roles, 'PATCH', `${path}/${key}`, changed))
  } else {
    if (permissions.length > 0) details.push(`permissions: ${permissions.join(', ')}`)
    requests.push(request(roles, 'POST', path, { key, name: key, ...desired.fields, permissions }))
  }
  const extended = setDetails('extends', there?.extends ?? new Set(), desired.extends)
  if (extended.length > 0) {
    details.push(...extended)
    requests.push(request(extensions, 'PATCH', `${path}/${key}`, { extends: [...desired.extends] }))
  }
  requests.push(...planDerivations(`${path}/${key}/implicit_grants`, there, desired))
  const names = (role: RoleState | undefined) => new Set(role?.derivations.keys())
  details.push(...setDetails('granted to', names(there), names(desired)))
  if ((there?.isGuarded ?? false) !== desired.isGuarded) {
    details.push(`applies only without direct roles: ${there?.isGuarded ?? false} → ${desired.isGuarded}`)
    const body = { no_direct_roles_on_object: desired.isGuarded }
    requests.push(request(derivations, 'PUT', `${path}/${key}/implicit_grants/conditions`, body))
  }
  const location = type === null ? ['roles', key] : ['resources', type, 'roles', key]
  return requests.length === 0 ? [] : [step(there ? '~' : '+', what, location, details, ...requests)]
}

/**
 * Plans each derivation separately. A request that replaces all derivations would also replace those that the
 * groups API created.
 */
function planDerivations(path: string, there: RoleState | undefined, desired: RoleState): PlannedRequest[] {
  const added = [...desired.derivations].filter(([name]) => !there?.derivations.has(name))
  const removed = [...(there?.derivations ?? [])].filter(([name]) => !desired.derivations.has(name))
  return [
    ...removed.map(([, { when: _when, ...entry }]) => request(extensions, 'DELETE', path, entry)),
    ...added.map(([, entry]) => request(derivations, 'POST', path, entry)),
  ]
}

export function planSchemaRemovals(current: EnvironmentState, desired: EnvironmentState): Step[] {
  const steps: Step[] = []
  const remove = (what: string, path: string, phase: number = removals) =>
    steps.push(step('-', what, undefined, [], request(phase, 'DELETE', path)))
  for (const key of without(current.roles, desired.roles)) remove(`role ${key}`, `roles/${key}`)
  for (const [type, there] of current.resources) {
    const named = desired.resources.get(type)
    const path = `resources/${type}`
    if (!named) continue
    const isGroupType = isMadeByGroups(type, current, desired)
    for (const key of without(there.roles, named.roles)) {
      if (!isGroupType || key !== 'member')
        remove(`role ${type}#${key}`, `${path}/roles/${key}`, derivationRemovals)
    }
    for (const key of without(there.relations, named.relations))
      remove(`relation ${type}.${key}`, `${path}/relations/${key}`)
    for (const key of without(there.actions, named.actions))
      remove(`action ${type}:${key}`, `${path}/actions/${key}`)
    for (const key of without(there.attributes, named.attributes))
      remove(`attribute ${type}.${key}`, `${path}/attributes/${key}`)
  }
  // Resources are removed last, because the deletion of a resource also deletes its relations, which are
  // planned above.
  for (const type of without(current.resources, desired.resources)) {
    if (!isMadeByGroups(type, current, desired)) remove(`resource ${type}`, `resources/${type}`)
  }
  for (const { what, path, part } of CARRIERS) {
    for (const key of without(current[part], desired[part])) remove(`${what} ${key}`, `${path}/${key}`)
  }
  return steps
}

/**
 * Whether the groups API manages the type. The service creates such a type with its first group and keeps it
 * as long as a group exists.
 */
function isMadeByGroups(type: string, ...states: readonly EnvironmentState[]): boolean {
  return states.some(({ groups }) => [...groups.keys()].some(name => name.startsWith(`${type}:`)))
}

function without(there: ReadonlyMap<string, unknown>, named: ReadonlyMap<string, unknown>): string[] {
  return [...there.keys()].filter(key => !named.has(key))
}

function request(
  phase: number,
  method: PlannedRequest['method'],
  path: string,
  body?: unknown,
): PlannedRequest {
  return { phase, method, base: 'schema', path, ...(body !== undefined && { body }) }
}

function step(
  mark: Step['mark'],
  what: string,
  location: ValuePath | undefined,
  details: readonly string[],
  ...requests: PlannedRequest[]
): Step {
  return { mark, what, location, details, requests }
}
