/**
 * Formats the debug output of a decision (native.md A.2). It is the explanation, in the words that clients of
 * the original service expect.
 */
import type { Explanation, NearMiss } from '#engine/explanation.ts'
import type { Expiration } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import type { AllowedQuery } from '#model/wire/decisions/decision.ts'
import { abacPart } from './rule-explanations.ts'

/**
 * Maximum number of roles that a reason lists. If there are more roles, the reason contains only their
 * number.
 */
const ROLES_NAMED_MAX = 20

interface ReasonPart {
  readonly allow: boolean
  readonly code: string
  readonly reason: string
}

/** A decision with the reasons for it. */
export interface ExplainedDecision {
  readonly allow: boolean
  /** Tenant in which the query was evaluated. */
  readonly tenant: string
  readonly isUserKnown: boolean
  /** Members of the `debug` object as JSON text, without the braces around them. */
  readonly reasons: string
  /**
   * Members `rules` and `more` as JSON text, without braces. Null if no rules apply to the query, or if the
   * caller did not request them.
   */
  readonly rules: string | null
}

/** Returns the `debug` object as JSON: the query as it was evaluated, and the reasons for the decision. */
export function debugText(question: AllowedQuery, query: Query, explained: ExplainedDecision): string {
  const request = {
    user: { key: query.user, synced: explained.isUserKnown, attributes: question.user.attributes ?? {} },
    tenant: explained.tenant,
    action: query.action,
    resource: { type: query.type, key: query.key, attributes: question.resource.attributes ?? {} },
  }
  return `{"request":${JSON.stringify(request)},${explained.reasons}}`
}

/** Returns the reasons of the three parts: tenant roles, roles on the instance, and rules. */
export function reasonsOf(query: Query, explanation: Explanation) {
  const { tenant, isCutShort } = explanation
  const [first] = explanation.path
  const isByTenant = first?.kind === 'tenant-role'
  return {
    rbac: isByTenant
      ? { ...allowedInTenant(first.role, tenant), allowing_roles: [first.role], ...expiryOf(first) }
      : { ...deniedByTenantRoles(query, explanation), allowing_roles: [] },
    rebac: {
      ...(explanation.isAllowedByRoles && !isByTenant
        ? { ...allowedOnInstance(explanation), ...pathOf(explanation) }
        : { ...deniedByInstanceRoles(query, explanation), allowing_roles: [], path: [] }),
      ...(isCutShort && { truncated: true }),
      ...(!explanation.allow && nearMissesOf(explanation)),
    },
    abac: abacPart(explanation, unaskedReason(query, explanation)),
  }
}

function nearMissesOf({ nearMisses: { found, hasMore } }: Explanation) {
  return {
    ...(found.length > 0 && { near_misses: found.map(nearMissItem) }),
    ...(hasMore && { more_near_misses: true }),
  }
}

function nearMissItem(miss: NearMiss) {
  switch (miss.kind) {
    case 'other-role': {
      const { kind, instance, needed, held, path } = miss
      const held_roles = held.map(({ role, extendsNeeded }) => ({ role, extends_needed: extendsNeeded }))
      return { kind, instance, needed_roles: needed, held_roles, path: path.map(stepItem) }
    }
    case 'guard': {
      const { kind, instance, blocking, path } = miss
      return { kind, instance, blocking_roles: blocking, path: path.map(stepItem) }
    }
    case 'no-tuple': {
      const { kind, instance, role, derivation, heldOn } = miss
      return { kind, instance, role, derivation, held_on: heldOn }
    }
  }
}

function pathOf({ path }: Explanation) {
  const last = path.at(-1)
  return { allowing_roles: last && 'role' in last ? [last.role] : [], path: path.map(stepItem) }
}

function stepItem<Step extends Expiration>({ expiresAt, ...step }: Step) {
  return { ...step, ...expiryOf({ expiresAt }) }
}

function expiryOf({ expiresAt }: { readonly expiresAt?: number | undefined }) {
  return expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }
}

function allowedInTenant(role: string, tenant: string): ReasonPart {
  return allowed(`tenant role ${role} in ${tenant} allows it`)
}

function allowedOnInstance({ path }: Explanation): ReasonPart {
  if (path.length > 0) return allowed('a role on the instance allows it')
  return allowed('a role on the instance allows it; the path to it would take too long to find')
}

function allowed(reason: string): ReasonPart {
  return { allow: true, code: 'allow', reason }
}

function denied(code: string, reason: string): ReasonPart {
  return { allow: false, code, reason }
}

/**
 * Returns the reason for a denial if a name in the query is not valid, in the order of native.md A.2. Both
 * role parts check this first.
 */
function deniedByNames(query: Query, explanation: Explanation): ReasonPart | null {
  const { known, tenant, isTenantMismatch } = explanation
  if (!known.type) return denied('no_such_resource', `there is no resource ${query.type}`)
  if (!known.action) return denied('no_such_action', `resource ${query.type} has no action ${query.action}`)
  if (!known.tenant) return denied('no_such_tenant', `there is no tenant ${tenant}`)
  if (!known.user) return denied('user_not_synced', `there is no user ${query.user}`)
  if (isTenantMismatch) {
    return denied('no_permission', `${query.type}:${query.key} is not in tenant ${tenant}`)
  }
  return null
}

/**
 * Returns the reason why rules are not evaluated, or null if they are. Rules do not require that the user is
 * stored.
 */
function unaskedReason(query: Query, explanation: Explanation): string | null {
  const known = { ...explanation.known, user: true }
  return deniedByNames(query, { ...explanation, known })?.reason ?? null
}

function deniedByTenantRoles(query: Query, explanation: Explanation): ReasonPart {
  const byNames = deniedByNames(query, explanation)
  if (byNames) return byNames
  const { held, allowing, isHeldAnywhere } = explanation.tenantRoles
  if (!isHeldAnywhere) return denied('no_user_roles', `the user holds no tenant role${wanted(allowing)}`)
  if (held.length === 0)
    return denied('no_role_in_tenant', `the user holds no role in ${explanation.tenant}${wanted(allowing)}`)
  return denied('no_permission', `the user holds ${named(held)}; ${allowingText(allowing)}`)
}

function deniedByInstanceRoles(query: Query, explanation: Explanation): ReasonPart {
  const byNames = deniedByNames(query, explanation)
  if (byNames) return byNames
  const { instanceRoles, isCutShort } = explanation
  const { held, allowing } = instanceRoles
  if (query.key === null) return denied('no_graph_roles', 'the check names no instance')
  if (held.length === 0 && !isCutShort) {
    return denied('no_graph_roles', `the user holds no role on the instance${wanted(allowing)}`)
  }
  if (explanation.isAllowedByRoles) return denied('no_permission', 'not evaluated: a tenant role allows it')
  const holds =
    held.length === 0
      ? 'the user possibly holds roles on the instance, which would take too long to find'
      : `the user holds ${named(held)} on the instance`
  const others =
    isCutShort && held.length > 0 ? ', and possibly others, which would take too long to find' : ''
  return denied('no_permission', `${holds}${others}; ${allowingText(allowing)}`)
}

/**
 * Returns the end of a reason for a user without a sufficient role. It lists the roles that would allow the
 * action, if there are any.
 */
function wanted(allowing: readonly string[]): string {
  return allowing.length === 0 ? '' : `; ${allowingText(allowing)}`
}

function allowingText(allowing: readonly string[]): string {
  if (allowing.length === 0) return 'no role allows the action'
  return `roles that allow the action: ${named(allowing)}`
}

/** Lists at least one role. */
function named(roles: readonly string[]): string {
  const more = roles.length - ROLES_NAMED_MAX
  return `${roles.slice(0, ROLES_NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
