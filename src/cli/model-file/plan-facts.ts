/** The part of a plan that is about facts: tenants, users, instances, groups, assignments, tuples. */
import { DEFAULT_TENANT } from '#model/decision.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { EnvironmentState, GroupState, TupleState } from './environment-state.ts'
import type { Finding } from './findings.ts'
import type { Way } from './place.ts'
import { changedFields, PHASES, type PlannedRequest, setDetails, type Step } from './plan-step.ts'

export function planFacts(present: EnvironmentState, wanted: EnvironmentState, conflicts: Finding[]): Step[] {
  return [
    ...planTenants(present, wanted),
    ...planUsers(present, wanted),
    ...planInstances(present, wanted, conflicts),
    ...planGroups(present, wanted, conflicts),
    ...planAssignments(present, wanted),
    ...planTuples(present, wanted),
  ]
}

function planTenants(present: EnvironmentState, wanted: EnvironmentState): Step[] {
  return [...wanted.tenants].flatMap(([key, fields]) => {
    const there = present.tenants.get(key)
    if (!there) {
      const body = { key, name: key, ...fields }
      return [
        added(`tenant ${key}`, ['tenants', key], { ...bulk(PHASES.tenants, 'POST', 'bulk/tenants'), body }),
      ]
    }
    return changed(
      `tenant ${key}`,
      ['tenants', key],
      PHASES.tenants,
      `tenants/${key}`,
      changedFields(there, fields),
    )
  })
}

function planUsers(present: EnvironmentState, wanted: EnvironmentState): Step[] {
  return [...wanted.users].flatMap(([key, fields]) => {
    const there = present.users.get(key)
    if (!there) {
      return [
        added(`user ${key}`, ['users', key], {
          ...bulk(PHASES.users, 'PUT', 'bulk/users'),
          body: { key, ...fields },
        }),
      ]
    }
    const path = `users/${encodeURIComponent(key)}`
    return changed(`user ${key}`, ['users', key], PHASES.users, path, changedFields(there, fields))
  })
}

function planInstances(present: EnvironmentState, wanted: EnvironmentState, conflicts: Finding[]): Step[] {
  return [...wanted.instances].flatMap(([name, { tenant, fields }]) => {
    const there = present.instances.get(name)
    if (!there) {
      const { type, key } = parseInstanceReference(name)!
      const body = { resource: type, key, tenant, ...fields }
      return [
        added(`instance ${name}`, ['instances', name], {
          ...bulk(PHASES.instances, 'PUT', 'bulk/resource_instances'),
          body,
        }),
      ]
    }
    if (there.tenant !== tenant) {
      const message = `instance ${name} lives in tenant ${there.tenant} and cannot move to ${tenant}`
      conflicts.push({ way: ['instances', name], message, isAboutKey: true })
      return []
    }
    const path = `resource_instances/${encodeURIComponent(name)}`
    return changed(
      `instance ${name}`,
      ['instances', name],
      PHASES.instances,
      path,
      changedFields(there.fields, fields),
    )
  })
}

function planGroups(present: EnvironmentState, wanted: EnvironmentState, conflicts: Finding[]): Step[] {
  return [...wanted.groups].flatMap(([name, group]) => {
    const there = present.groups.get(name)
    const way = wanted.ways.get(`group ${name}`)
    if (!there || there.tenant === group.tenant) return planGroup(name, there, group, way)
    const message = `group ${name} lives in tenant ${there.tenant} and cannot move to ${group.tenant}`
    conflicts.push({ way: way ?? [], message, isAboutKey: true })
    return []
  })
}

function planGroup(name: string, there: GroupState | undefined, wanted: GroupState, way?: Way): Step[] {
  const { type, key } = parseInstanceReference(name)!
  const path = `groups/${encodeURIComponent(name)}`
  const requests: PlannedRequest[] = []
  const details: string[] = []
  const { groups, groupParts } = PHASES
  const request = (phase: number, method: PlannedRequest['method'], where: string, body: unknown) =>
    requests.push({ phase, method, base: 'schema', path: where, body })
  if (!there) {
    const body = { group_instance_key: key, group_tenant: wanted.tenant, group_resource_type_key: type }
    request(groups, 'POST', 'groups', body)
  }
  const parts = [
    [
      'members',
      (user: string) =>
        request(groupParts, 'PUT', `${path}/users/${encodeURIComponent(user)}`, { tenant: wanted.tenant }),
    ],
    [
      'groups',
      (inner: string) => request(groupParts, 'PUT', `${path}/assign_group`, { group_instance_key: inner }),
    ],
    ['roles', (role: string) => request(groupParts, 'POST', `${path}/roles`, grantOf(role, wanted.tenant))],
  ] as const
  for (const [part, add] of parts) {
    const missing = new Set([...wanted[part]].filter(item => !there?.[part].has(item)))
    details.push(...setDetails(part, new Set(), missing))
    for (const item of missing) add(item)
  }
  return requests.length === 0
    ? []
    : [{ mark: there ? '~' : '+', what: `group ${name}`, way, details, requests }]
}

/** `type:key#role` as the body of a grant. */
function grantOf(text: string, tenant: string) {
  const hash = text.lastIndexOf('#')
  const instance = parseInstanceReference(text.slice(0, hash))!
  return { role: text.slice(hash + 1), resource: instance.type, resource_instance: instance.key, tenant }
}

function planAssignments(present: EnvironmentState, wanted: EnvironmentState): Step[] {
  return [...wanted.assignments].flatMap(([name, { user, role, tenant, resource_instance }]) => {
    if (present.assignments.has(name)) return []
    const isPlaced = tenant !== undefined || isKnown(resource_instance!, present, wanted)
    const body = { user, role, tenant: isPlaced ? tenant : DEFAULT_TENANT, resource_instance }
    const place = resource_instance ?? `tenant ${tenant}`
    const call = { ...bulk(PHASES.assignments, 'POST', 'role_assignments/bulk', 'array'), body }
    return [added(`assignment ${user} is ${role} of ${place}`, wanted.ways.get(`assignment ${name}`), call)]
  })
}

function planTuples(present: EnvironmentState, wanted: EnvironmentState): Step[] {
  return [...wanted.tuples].flatMap(([name, tuple]) => {
    if (present.tuples.has(name)) return []
    const { subject, relation, object, tenant } = tuple
    const isPlaced = tenant !== undefined || [subject, object].some(side => isKnown(side, present, wanted))
    const body = { subject, relation, object, tenant: isPlaced ? tenant : DEFAULT_TENANT }
    return [
      added(`tuple ${textOf(tuple)}`, wanted.ways.get(`tuple ${name}`), {
        ...bulk(PHASES.tuples, 'POST', 'relationship_tuples/bulk'),
        body,
      }),
    ]
  })
}

/** Whether an instance has a tenant already, or gets one when a fact names it. */
function isKnown(name: string, ...states: readonly EnvironmentState[]): boolean {
  return states.some(({ instances, groups }) => instances.has(name) || groups.has(name))
}

export function planFactRemovals(present: EnvironmentState, wanted: EnvironmentState): Step[] {
  const steps: Step[] = []
  const remove = (what: string, call: Omit<PlannedRequest, 'phase' | 'method'>) =>
    steps.push({
      mark: '-',
      what,
      details: [],
      requests: [{ phase: PHASES.factRemovals, method: 'DELETE', ...call }],
    })
  for (const [name, { user, role, tenant, resource_instance }] of present.assignments) {
    if (wanted.assignments.has(name)) continue
    const place = resource_instance ?? `tenant ${tenant}`
    const body = { user, role, tenant, resource_instance }
    remove(`assignment ${user} is ${role} of ${place}`, {
      base: 'facts',
      path: 'role_assignments/bulk',
      body,
      bulk: 'array',
    })
  }
  for (const [name, tuple] of present.tuples) {
    if (wanted.tuples.has(name)) continue
    remove(`tuple ${textOf(tuple)}`, { base: 'facts', path: 'relationship_tuples', body: tuple })
  }
  for (const [name, group] of present.groups)
    steps.push(...groupRemovals(name, group, wanted.groups.get(name)))
  // An instance that a kept tuple or assignment names exists because of it.
  const mentioned = new Set([
    ...[...wanted.tuples.values()].flatMap(({ subject, object }) => [subject, object]),
    ...[...wanted.assignments.values()].map(({ resource_instance }) => resource_instance),
    ...[...wanted.groups.values()].flatMap(({ roles }) =>
      [...roles].map(role => role.slice(0, role.lastIndexOf('#'))),
    ),
  ])
  for (const name of present.instances.keys()) {
    if (wanted.instances.has(name) || mentioned.has(name)) continue
    remove(`instance ${name}`, { base: 'facts', path: `resource_instances/${encodeURIComponent(name)}` })
  }
  for (const key of present.users.keys()) {
    if (!wanted.users.has(key))
      remove(`user ${key}`, { base: 'facts', path: `users/${encodeURIComponent(key)}` })
  }
  for (const key of present.tenants.keys()) {
    if (!wanted.tenants.has(key) && key !== DEFAULT_TENANT)
      remove(`tenant ${key}`, { base: 'facts', path: `tenants/${key}` })
  }
  return steps
}

function groupRemovals(name: string, there: GroupState, wanted: GroupState | undefined): Step[] {
  const path = `groups/${encodeURIComponent(name)}`
  const request = (where: string, body?: unknown): PlannedRequest => ({
    phase: PHASES.factRemovals,
    method: 'DELETE',
    base: 'schema',
    path: where,
    ...(body !== undefined && { body }),
  })
  if (!wanted) return [{ mark: '-', what: `group ${name}`, details: [], requests: [request(path)] }]
  const gone = (part: 'members' | 'groups' | 'roles') =>
    [...there[part]].filter(item => !wanted[part].has(item))
  const requests = [
    ...gone('members').map(user =>
      request(`${path}/users/${encodeURIComponent(user)}`, { tenant: there.tenant }),
    ),
    ...gone('groups').map(inner => request(`${path}/assign_group`, { group_instance_key: inner })),
    ...gone('roles').map(role => request(`${path}/roles`, grantOf(role, there.tenant))),
  ]
  const details = (['members', 'groups', 'roles'] as const).flatMap(part =>
    setDetails(part, new Set(gone(part)), new Set()),
  )
  return requests.length === 0 ? [] : [{ mark: '~', what: `group ${name}`, details, requests }]
}

function textOf({ subject, relation, object }: TupleState): string {
  return `${subject} is ${relation} of ${object}`
}

function bulk(
  phase: number,
  method: 'POST' | 'PUT',
  path: string,
  kind: 'operations' | 'array' = 'operations',
): PlannedRequest {
  return { phase, method, base: 'facts', path, bulk: kind }
}

function added(what: string, way: Way | undefined, request: PlannedRequest): Step {
  return { mark: '+', what, way, details: [], requests: [request] }
}

function changed(
  what: string,
  way: Way,
  phase: number,
  path: string,
  { changed: body, details }: ReturnType<typeof changedFields>,
): Step[] {
  if (details.length === 0) return []
  return [
    { mark: '~', what, way, details, requests: [{ phase, method: 'PATCH', base: 'facts', path, body }] },
  ]
}
