/**
 * Path that explains why a check is allowed: nodes from the user to the resource, and the edges between them.
 * The drawing and the text on every page are generated from the same path.
 */
import { type Explained, type Request, resourceName, type RuleNames, type Step } from './explained.ts'
import { derivedLeg, heldLeg, type Leg, plainLeg } from './legs.ts'
import {
  instanceStop,
  resourceSideStop,
  resourceStop,
  type Stop,
  tenantStop,
  userSideStop,
  userStop,
  type Words,
} from './stops.ts'

/** One edge between each node and the next. */
export interface Way {
  readonly stops: readonly Stop[]
  readonly legs: readonly Leg[]
}

/** Null if the check is denied, or if the response does not contain the derivation. */
export function wayOfAllow({ debug }: Explained, words: Words): Way | null {
  const { request, rbac, rebac, abac } = debug
  const [tenantRole] = rbac.allowing_roles
  if (rbac.allow && tenantRole !== undefined) {
    const held = { kind: 'tenant-role', tenant: request.tenant, role: tenantRole } as const
    const end = rbac.expires_at === undefined ? {} : { expires_at: rbac.expires_at }
    return overSteps(request, [{ ...held, ...end }], words)
  }
  if (rebac.allow && rebac.path !== undefined && rebac.path.length > 0)
    return overSteps(request, rebac.path, words)
  const [rule] = abac.allowing_rules
  return abac.allow && rule !== undefined ? overRule(request, rule, words) : null
}

/** Explains in one sentence why the check is allowed. */
export function whyAllowed({ debug }: Explained, { why, ...words }: Words): string {
  const { request, rbac, rebac, abac } = debug
  const user = request.user.key
  const resource = resourceName(request.resource)
  const [tenantRole] = rbac.allowing_roles
  if (rbac.allow && tenantRole !== undefined)
    return why.byTenantRole(user, tenantRole, request.tenant, request.action, request.resource.type)
  const [role] = rebac.allowing_roles
  if (rebac.allow) {
    if (role === undefined) return why.byRoleUntold(user, resource)
    const [first] = rebac.path ?? []
    return first?.kind === 'instance-role' && resourceName(first.instance) !== resource
      ? why.byRoleFrom(user, role, resource, request.action, resourceName(first.instance))
      : why.byRole(user, role, resource, request.action)
  }
  const [rule] = abac.allowing_rules
  return rule === undefined ? why.byRuleUntold : ruleSentence(rule, request.action, { why, ...words })
}

/** Earliest expiration time of the edges; null if none of them expires. */
export function endOfWay({ legs }: Way): string | null {
  const ends = legs.flatMap(({ end }) => (end === undefined ? [] : [end]))
  return ends.toSorted((one, other) => Date.parse(one) - Date.parse(other))[0] ?? null
}

function overSteps(request: Request, steps: readonly Step[], words: Words): Way {
  const stops: Stop[] = [userStop(request, words)]
  const legs: Leg[] = []
  const user = request.user.key
  for (const step of steps) {
    if (step.kind === 'derivation') {
      stops.push(instanceStop(step.object, step.role, words))
      legs.push(derivedLeg(step, 'there', words))
    } else if (step.kind === 'instance-role') {
      const { instance, role, expires_at: end } = step
      stops.push(instanceStop(instance, role, words))
      legs.push(heldLeg(user, { role, instance, ...(end === undefined ? {} : { end }) }, words))
    } else {
      const { tenant, role, expires_at: end } = step
      stops.push(tenantStop(tenant, role, words))
      legs.push(plainLeg(words.way.holds, words.way.holdsIn(user, role, tenant), end))
    }
  }
  const last = steps.at(-1)
  if (last?.kind === 'tenant-role') {
    const sentence = words.way.roleMay(last.role, request.action, resourceName(request.resource), last.tenant)
    stops.push(resourceStop(request, words))
    legs.push(plainLeg(words.way.may(request.action), sentence))
  }
  return { stops, legs }
}

function overRule(request: Request, rule: RuleNames, words: Words): Way {
  const { way } = words
  const [who, what] = [userSideStop(rule, words), resourceSideStop(rule, words)]
  const user = request.user.key
  const resource = resourceName(request.resource)
  return {
    stops: [userStop(request, words), who, what, resourceStop(request, words)],
    legs: [
      who.kind === 'role'
        ? plainLeg(way.holds, way.holdsRole(user, who.key))
        : plainLeg(way.isIn, way.isInUserSet(user, who.key)),
      plainLeg(way.may(request.action), ruleSentence(rule, request.action, words)),
      what.kind === 'type'
        ? plainLeg(way.isType, way.isOfType(resource, what.key))
        : plainLeg(way.contains, way.isInResourceSet(resource, what.key)),
    ],
  }
}

function ruleSentence(rule: RuleNames, action: string, words: Words): string {
  const { who: whoIs, what: whatIs } = words.rule
  const [who, what] = [userSideStop(rule, words), resourceSideStop(rule, words)]
  return words.rule.may(
    who.kind === 'role' ? whoIs.role(who.key) : whoIs.set(who.key),
    action,
    what.kind === 'type' ? whatIs.type(what.key) : whatIs.set(what.key),
  )
}
