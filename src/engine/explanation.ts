/** Types of an explanation: the reasons for a decision, expressed as facts and names. */
import type { ExplainedSide } from '#conditions/explain.ts'
import type { Derivation, Expiration, InstanceKey } from '#model/change.ts'

export interface Explanation {
  readonly allow: boolean
  /** Decision of the roles alone, without rules. */
  readonly isAllowedByRoles: boolean
  /** The tenant in which the query was evaluated (native.md A.2, D-15). */
  readonly tenant: string
  /** Which names of the query are known. */
  readonly known: {
    readonly user: boolean
    readonly tenant: boolean
    readonly type: boolean
    /** Whether the type declares the action. */
    readonly action: boolean
    /** Whether the instance is stored; also false if the query has no key. */
    readonly instance: boolean
  }
  /**
   * True if the named tenant differs from the tenant of the stored instance. The check is then denied,
   * whatever roles the user holds (native.md D-14).
   */
  readonly isTenantMismatch: boolean
  /** Tenant roles that the user holds in the tenant, and all tenant roles that would allow the action. */
  readonly tenantRoles: {
    readonly held: readonly string[]
    readonly allowing: readonly string[]
    /** False only if the user is known to hold no tenant role in any tenant. */
    readonly isHeldAnywhere: boolean
  }
  /**
   * The same for roles on the instance. Held roles are direct or derived; if the explanation was cut short,
   * some might be missing.
   */
  readonly instanceRoles: { readonly held: readonly string[]; readonly allowing: readonly string[] }
  /** A shortest path that allows, from a role of the user to the requested instance; empty for a denial. */
  readonly path: readonly ExplanationStep[]
  /**
   * Near misses, if roles deny: checks that fail because of exactly one condition. Not searched for with the
   * detail `none`.
   */
  readonly nearMisses: NearMisses
  /** Results of the rules for the type and action (conditions.md 9). A rule that allows is sufficient. */
  readonly rules: ExplainedByRules
  /**
   * True if the search limit was reached or the path is too long. `instanceRoles.held` might then lack roles,
   * and an allowed check might have no path. The information that is present is correct, and so is the
   * decision.
   */
  readonly isCutShort: boolean
  /** Number of steps of the graph searches. */
  readonly steps: number
}

/**
 * Limits: near misses reported, roles named by one of them, and derivations between one and the requested
 * instance.
 */
export const NEAR_MISSES_MAX = 3
export const NEAR_MISS_ROLES_MAX = 20
export const NEAR_MISS_STEPS_MAX = 32

export interface NearMisses {
  /** Ordered by distance: the number of derivations to the requested instance. */
  readonly found: readonly NearMiss[]
  /** Whether there are, or might be, more: the search limit may have been reached. */
  readonly hasMore: boolean
}

export type NearMiss = NotThatRole | VoidByGuard | NotRelated

/** The user holds roles on another instance, but none from which an allowing role is derived. */
export interface NotThatRole {
  readonly kind: 'other-role'
  readonly instance: InstanceKey
  /** Each of these roles would allow, through equally few derivations. */
  readonly needed: readonly string[]
  readonly held: readonly RoleHeldInstead[]
  /** From one of the needed roles to the requested instance. */
  readonly path: readonly DerivationStep[]
}

export interface RoleHeldInstead {
  readonly role: string
  /**
   * The held role extends a needed role and therefore has its permissions, but a derivation requires the role
   * itself.
   */
  readonly extendsNeeded: boolean
}

/** The user holds a role from which an allowing role is derived, but a guard disables the derivation. */
export interface VoidByGuard {
  readonly kind: 'guard'
  /** The object of the derivation. */
  readonly instance: InstanceKey
  /** Roles held directly on it. */
  readonly blocking: readonly string[]
  /** From the held role to the requested instance. The first step is the disabled one. */
  readonly path: readonly DerivationStep[]
}

/**
 * The user holds a role from which an allowing role is derived, but no tuple of the relation leads to the
 * requested instance.
 */
export interface NotRelated {
  readonly kind: 'no-tuple'
  readonly instance: InstanceKey
  /** The derivation that would give `role` on the instance. */
  readonly derivation: Derivation
  readonly role: string
  /** One of the instances on which the user directly holds the role that the derivation requires. */
  readonly heldOn: InstanceKey
}

export const NO_NEAR_MISSES: NearMisses = { found: [], hasMore: false }

/**
 * Detail for rules: only the rules that allow, the test that decided each side, or the whole trees of each
 * side.
 */
export type RuleDetail = 'none' | 'leaf' | 'tree'

/** Maximum number of rules that an explanation lists, and of sets that it names per side. */
export const RULES_EXPLAINED_MAX = 100

export interface ExplainedByRules {
  readonly allow: boolean
  /**
   * Why the attributes of the request could not be read and are treated as absent; `null`: they were read, or
   * no rule needs them.
   */
  readonly unread: string | null
  /** Number of rules for the type and action. */
  readonly count: number
  /** Allowing rules come first. With the detail `none`, only these are listed. */
  readonly rules: readonly ExplainedRule[]
  /** Whether there are more rules. */
  readonly hasMore: boolean
  /** Sets of rules that match individually. If there are very many, only some of them. */
  readonly userSets: readonly string[]
  readonly resourceSets: readonly string[]
}

/** A rule allows if both of its sides are true. */
export interface ExplainedRule {
  readonly userSet: string
  readonly resourceSet: string
  readonly allows: boolean
  readonly user: ExplainedRuleSide
  readonly resource: ExplainedRuleSide
}

/** Result of evaluating conditions that need not belong to a rule, for one query. */
export interface TriedConditions {
  readonly value: ExplainedSide['value']
  /** Trees of the conditions, in order. */
  readonly trees: ExplainedSide['trees']
  /** True if the steps of a query were not sufficient. Tests that could not be evaluated are unknown. */
  readonly isOverBudget: boolean
}

/** Without trees, unless the detail requests them. */
export type ExplainedRuleSide = Omit<ExplainedSide, 'nodes'>

export const NO_RULES: ExplainedByRules = {
  allow: false,
  unread: null,
  count: 0,
  rules: [],
  hasMore: false,
  userSets: [],
  resourceSets: [],
}

export type ExplanationStep =
  | ({ readonly kind: 'tenant-role'; readonly tenant: string; readonly role: string } & Expiration)
  | ({ readonly kind: 'instance-role'; readonly instance: InstanceKey; readonly role: string } & Expiration)
  | DerivationStep

/**
 * The role of the previous step gives `role` on `object` through this tuple, which can expire, and this
 * derivation.
 */
export interface DerivationStep extends Expiration {
  readonly kind: 'derivation'
  readonly subject: InstanceKey
  readonly relation: string
  readonly object: InstanceKey
  readonly role: string
  readonly derivation: Derivation
}
