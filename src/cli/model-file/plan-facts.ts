/** Plans changes of facts: tenants, users, instances, groups, assignments and tuples. */
import { DEFAULT_TENANT } from '#model/decision.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import {
  type AssignmentState,
  EXPIRED,
  type EnvironmentState,
  type GroupState,
  type TupleState,
  type ExpiresAt,
} from './environment-state.ts'
import type { Finding } from './findings.ts'
import type { ValuePath } from './located-value.ts'
import { changedFields, PHASES, type PlannedRequest, setDetails, type Step } from './plan-step.ts'

export function planFacts(
  current: EnvironmentState,
  desired: EnvironmentState,
  conflicts: Finding[],
): Step[] {
  return [
    ...planTenants(current, desired),
    ...planUsers(current, desired),
    ...planInstances(current, desired, conflicts),
    ...planGroups(current, desired, conflicts),
    ...planAssignments(current, desired),
    ...planTuples(current, desired),
  ]
}

function planTenants(current: EnvironmentState, desired: EnvironmentState): Step[] {
  return [...desired.tenants].flatMap(([key, fields]) => {
    const there = current.tenants.get(key)
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

function planUsers(current: EnvironmentState, desired: EnvironmentState): Step[] {
  return [...desired.users].flatMap(([key, fields]) => {
    const there = current.users.get(key)
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

function planInstances(current: EnvironmentState, desired: EnvironmentState, conflicts: Finding[]): Step[] {
  return [...desired.instances].flatMap(([name, { tenant, fields }]) => {
    const there = current.instances.get(name)
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
      const message = `instance ${name} is in tenant ${there.tenant} and cannot move to ${tenant}`
      conflicts.push({ location: ['instances', name], message, isAboutKey: true })
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

function planGroups(current: EnvironmentState, desired: EnvironmentState, conflicts: Finding[]): Step[] {
  return [...desired.groups].flatMap(([name, group]) => {
    const there = current.groups.get(name)
    const location = desired.locations.get(`group ${name}`)
    if (!there || there.tenant === group.tenant) return planGroup(name, there, group, location)
    const message = `group ${name} is in tenant ${there.tenant} and cannot move to ${group.tenant}`
    conflicts.push({ location: location ?? [], message, isAboutKey: true })
    return []
  })
}

function planGroup(
  name: string,
  there: GroupState | undefined,
  desired: GroupState,
  location?: ValuePath,
): Step[] {
  const { type, key } = parseInstanceReference(name)!
  const path = `groups/${encodeURIComponent(name)}`
  const requests: PlannedRequest[] = []
  const details: string[] = []
  const { groups, groupParts } = PHASES
  const request = (phase: number, method: PlannedRequest['method'], where: string, body: unknown) =>
    requests.push({ phase, method, base: 'schema', path: where, body })
  if (!there) {
    const body = { group_instance_key: key, group_tenant: desired.tenant, group_resource_type_key: type }
    request(groups, 'POST', 'groups', body)
  }
  for (const part of GROUP_PARTS) {
    const lines: string[] = []
    for (const [item, expiresAt] of desired[part]) {
      const former = there?.[part].get(item)
      if (former === expiresAt) continue
      if (expiresAt === EXPIRED) {
        if (former === undefined) continue
        requests.push(partRemoval(name, desired.tenant, part, item))
        lines.push(`− ${item}`)
        continue
      }
      const { method, where, body } = partRequest(desired.tenant, part, item)
      request(groupParts, method, `${path}/${where}`, { ...body, ...expiryOf(expiresAt) })
      lines.push(
        `${former === undefined ? '+' : '~'} ${item}${expiresAt === null ? '' : ` until ${expiresAt}`}`,
      )
    }
    if (lines.length > 0) details.push(`${part}: ${lines.join(', ')}`)
  }
  return requests.length === 0
    ? []
    : [{ mark: there ? '~' : '+', what: `group ${name}`, location, details, requests }]
}

const GROUP_PARTS = ['members', 'groups', 'roles'] as const
type GroupPart = (typeof GROUP_PARTS)[number]

/**
 * Returns the request that adds a part to a group. The request that removes the part has the same path and
 * the method `DELETE`. The path is relative to that of the group.
 */
function partRequest(tenant: string, part: GroupPart, item: string) {
  switch (part) {
    case 'members':
      return { method: 'PUT', where: `users/${encodeURIComponent(item)}`, body: { tenant } } as const
    case 'groups':
      return { method: 'PUT', where: 'assign_group', body: { group_instance_key: item } } as const
    case 'roles':
      return { method: 'POST', where: 'roles', body: grantOf(item, tenant) } as const
  }
}

function partRemoval(group: string, tenant: string, part: GroupPart, item: string): PlannedRequest {
  const { where, body } = partRequest(tenant, part, item)
  const path = `groups/${encodeURIComponent(group)}/${where}`
  return { phase: PHASES.factRemovals, method: 'DELETE', base: 'schema', path, body }
}

/** Returns the fields of a request body that contain the expiration time. */
function expiryOf(expiresAt: ExpiresAt) {
  return expiresAt === null ? {} : { expires_at: expiresAt }
}

/** Converts `type:key#role` to the body of a grant. */
function grantOf(text: string, tenant: string) {
  const hash = text.lastIndexOf('#')
  const instance = parseInstanceReference(text.slice(0, hash))!
  return { role: text.slice(hash + 1), resource: instance.type, resource_instance: instance.key, tenant }
}

function planAssignments(current: EnvironmentState, desired: EnvironmentState): Step[] {
  return [...desired.assignments].flatMap(([name, assignment]) => {
    const { user, role, tenant, resource_instance, expiresAt } = assignment
    const isPlaced = tenant !== undefined || isKnown(resource_instance!, current, desired)
    const place = { tenant: isPlaced ? tenant : DEFAULT_TENANT, resource_instance }
    const body = { user, role, ...place, ...expiryOf(expiresAt) }
    return granted(current.assignments.get(name), expiresAt, {
      what: assignmentText(assignment),
      location: desired.locations.get(`assignment ${name}`),
      grant: { ...bulk(PHASES.assignments, 'POST', 'role_assignments/bulk', 'array'), body },
      removal: assignmentRemoval,
    })
  })
}

function planTuples(current: EnvironmentState, desired: EnvironmentState): Step[] {
  return [...desired.tuples].flatMap(([name, tuple]) => {
    const { subject, relation, object, tenant, expiresAt } = tuple
    const isPlaced = tenant !== undefined || [subject, object].some(side => isKnown(side, current, desired))
    const body = {
      subject,
      relation,
      object,
      tenant: isPlaced ? tenant : DEFAULT_TENANT,
      ...expiryOf(expiresAt),
    }
    return granted(current.tuples.get(name), expiresAt, {
      what: tupleText(tuple),
      location: desired.locations.get(`tuple ${name}`),
      grant: { ...bulk(PHASES.tuples, 'POST', 'relationship_tuples/bulk'), body },
      removal: tupleRemoval,
    })
  })
}

interface GrantPlan<There> {
  readonly what: string
  readonly location: ValuePath | undefined
  readonly grant: PlannedRequest
  readonly removal: (there: There) => PlannedRequest
}

/**
 * Returns the steps that give a grant the expiration time `until`. The list is empty if the grant already has
 * this time. If the grant in the file has expired, the step removes the existing grant.
 */
function granted<There extends { readonly expiresAt: ExpiresAt }>(
  there: There | undefined,
  expiresAt: ExpiresAt,
  { what, location, grant, removal }: GrantPlan<There>,
): Step[] {
  if (expiresAt === EXPIRED)
    return there ? [{ mark: '-', what, location, details: [], requests: [removal(there)] }] : []
  if (!there) {
    const details = expiresAt === null ? [] : [`until: ${expiresAt}`]
    return [{ mark: '+', what, location, details, requests: [grant] }]
  }
  const { details } = changedFields({ until: there.expiresAt }, { until: expiresAt })
  return details.length === 0 ? [] : [{ mark: '~', what, location, details, requests: [grant] }]
}

function assignmentText({ user, role, tenant, resource_instance }: AssignmentState): string {
  return `assignment ${user} is ${role} of ${resource_instance ?? `tenant ${tenant}`}`
}

function assignmentRemoval({ user, role, tenant, resource_instance }: AssignmentState): PlannedRequest {
  const body = { user, role, tenant, resource_instance }
  const call = { base: 'facts', path: 'role_assignments/bulk', bulk: 'array' } as const
  return { phase: PHASES.factRemovals, method: 'DELETE', ...call, body }
}

function tupleText({ subject, relation, object }: TupleState): string {
  return `tuple ${subject} is ${relation} of ${object}`
}

function tupleRemoval({ subject, relation, object }: TupleState): PlannedRequest {
  const body = { subject, relation, object }
  return { phase: PHASES.factRemovals, method: 'DELETE', base: 'facts', path: 'relationship_tuples', body }
}

/** Whether an instance already belongs to a tenant, or is assigned to one when a fact refers to it. */
function isKnown(name: string, ...states: readonly EnvironmentState[]): boolean {
  return states.some(({ instances, groups }) => instances.has(name) || groups.has(name))
}

export function planFactRemovals(current: EnvironmentState, desired: EnvironmentState): Step[] {
  const steps: Step[] = []
  const gone = (what: string, request: PlannedRequest) =>
    steps.push({ mark: '-', what, details: [], requests: [request] })
  const remove = (what: string, path: string) =>
    gone(what, { phase: PHASES.factRemovals, method: 'DELETE', base: 'facts', path })
  for (const [name, assignment] of current.assignments) {
    if (!desired.assignments.has(name)) gone(assignmentText(assignment), assignmentRemoval(assignment))
  }
  for (const [name, tuple] of current.tuples) {
    if (!desired.tuples.has(name)) gone(tupleText(tuple), tupleRemoval(tuple))
  }
  for (const [name, group] of current.groups)
    steps.push(...groupRemovals(name, group, desired.groups.get(name)))
  // Instances that are mentioned only in tuples and assignments of the file. They are not removed, because
  // these facts need them.
  const mentioned = new Set([
    ...[...desired.tuples.values()].flatMap(({ subject, object }) => [subject, object]),
    ...[...desired.assignments.values()].map(({ resource_instance }) => resource_instance),
    ...[...desired.groups.values()].flatMap(({ roles }) =>
      [...roles.keys()].map(role => role.slice(0, role.lastIndexOf('#'))),
    ),
  ])
  for (const name of current.instances.keys()) {
    if (desired.instances.has(name) || mentioned.has(name)) continue
    remove(`instance ${name}`, `resource_instances/${encodeURIComponent(name)}`)
  }
  for (const key of current.users.keys()) {
    if (!desired.users.has(key)) remove(`user ${key}`, `users/${encodeURIComponent(key)}`)
  }
  for (const key of current.tenants.keys()) {
    if (!desired.tenants.has(key) && key !== DEFAULT_TENANT) remove(`tenant ${key}`, `tenants/${key}`)
  }
  return steps
}

function groupRemovals(name: string, there: GroupState, desired: GroupState | undefined): Step[] {
  const what = `group ${name}`
  if (!desired) {
    const path = `groups/${encodeURIComponent(name)}`
    const request = { phase: PHASES.factRemovals, method: 'DELETE', base: 'schema', path } as const
    return [{ mark: '-', what, details: [], requests: [request] }]
  }
  const gone = (part: GroupPart) => [...there[part].keys()].filter(item => !desired[part].has(item))
  const requests = GROUP_PARTS.flatMap(part =>
    gone(part).map(item => partRemoval(name, there.tenant, part, item)),
  )
  const details = GROUP_PARTS.flatMap(part => setDetails(part, new Set(gone(part)), new Set()))
  return requests.length === 0 ? [] : [{ mark: '~', what, details, requests }]
}

function bulk(
  phase: number,
  method: 'POST' | 'PUT',
  path: string,
  kind: 'operations' | 'array' = 'operations',
): PlannedRequest {
  return { phase, method, base: 'facts', path, bulk: kind }
}

function added(what: string, location: ValuePath | undefined, request: PlannedRequest): Step {
  return { mark: '+', what, location, details: [], requests: [request] }
}

function changed(
  what: string,
  location: ValuePath,
  phase: number,
  path: string,
  { changed: body, details }: ReturnType<typeof changedFields>,
): Step[] {
  if (details.length === 0) return []
  return [
    { mark: '~', what, location, details, requests: [{ phase, method: 'PATCH', base: 'facts', path, body }] },
  ]
}
