/** Types of an explanation: the reasons for a decision, as facts with names. */
import type { ExplainedSide } from '#conditions/explain.ts'
import type { Derivation, Expiration, InstanceKey } from '#model/change.ts'

export interface Explanation {
  readonly allow: boolean
  /** Decision that roles alone would make, without rules. */
  readonly isAllowedByRoles: boolean
  /** Tenant in which the query was evaluated (native.md A.2, D-15). */
  readonly tenant: string
  /** For each name in the query, whether it is known. */
  readonly known: {
    readonly user: boolean
    readonly tenant: boolean
    readonly type: boolean
    /** Whether the type declares the action. */
    readonly action: boolean
    /** Whether the instance is stored. Also false if the query has no key. */
    readonly instance: boolean
  }
  /**
   * True if the query names another tenant than that of the stored instance. The check is then denied,
   * regardless of the roles that the user holds (native.md D-14).
   */
  readonly isTenantMismatch: boolean
  /**
   * `held`: tenant roles that the user holds in the tenant. `allowing`: all tenant roles that would allow the
   * action.
   */
  readonly tenantRoles: {
    readonly held: readonly string[]
    readonly allowing: readonly string[]
    /** False only if it is known that the user holds no tenant role in any tenant. */
    readonly isHeldAnywhere: boolean
  }
  /**
   * `held`: roles that the user holds on the instance, direct or derived. If the explanation was cut short,
   * some might be missing. `allowing`: all roles of the type that would allow the action.
   */
  readonly instanceRoles: { readonly held: readonly string[]; readonly allowing: readonly string[] }
  /**
   * A shortest path that allows: from a role that the user holds to the requested instance. Empty if the
   * check is denied.
   */
  readonly path: readonly ExplanationStep[]
  /**
   * Near misses, if roles deny: checks that fail because of exactly one condition. With the detail `none`,
   * they are not searched for.
   */
  readonly nearMisses: NearMisses
  /** Results of the rules for the type and action (conditions.md 9). One rule that allows is sufficient. */
  readonly rules: ExplainedByRules
  /**
   * True if a search limit was reached or the path is too long. Then roles might be missing from
   * `instanceRoles.held`, and the explanation of an allow might have no path. The decision and all
   * information in the explanation are still correct.
   */
  readonly isCutShort: boolean
  /** Number of steps that the graph searches used. */
  readonly steps: number
}

/**
 * Limits of near misses: the number of reported near misses, the number of roles in each of them, and the
 * number of derivations between a near miss and the requested instance.
 */
export const NEAR_MISSES_MAX = 3
export const NEAR_MISS_ROLES_MAX = 20
export const NEAR_MISS_STEPS_MAX = 32

export interface NearMisses {
  /** Near misses, ordered by their number of derivations to the requested instance. */
  readonly found: readonly NearMiss[]
  /** Whether there are, or might be, further near misses. They might exist if a search limit was reached. */
  readonly hasMore: boolean
}

export type NearMiss = NotThatRole | VoidByGuard | NotRelated

/** The user holds roles on another instance, but no role there from which a role that allows is derived. */
export interface NotThatRole {
  readonly kind: 'other-role'
  readonly instance: InstanceKey
  /**
   * Roles on this instance that are each sufficient to allow. They all need the same number of derivations,
   * and no role on this instance needs fewer.
   */
  readonly needed: readonly string[]
  readonly held: readonly RoleHeldInstead[]
  /** Path from one of the needed roles to the requested instance. */
  readonly path: readonly DerivationStep[]
}

export interface RoleHeldInstead {
  readonly role: string
  /**
   * True if the held role extends a needed role. It then has the permissions of the needed role, but the
   * derivation requires the needed role itself.
   */
  readonly extendsNeeded: boolean
}

/** The user holds a role from which a role that allows is derived, but a guard disables the derivation. */
export interface VoidByGuard {
  readonly kind: 'guard'
  /** Object of the disabled derivation. */
  readonly instance: InstanceKey
  /** Roles that the user holds directly on this object, because of which the guard applies. */
  readonly blocking: readonly string[]
  /** Path from the held role to the requested instance. Its first step is the disabled derivation. */
  readonly path: readonly DerivationStep[]
}

/**
 * The user holds a role from which a role that allows would be derived, but the requested instance has no
 * tuple of the relation.
 */
export interface NotRelated {
  readonly kind: 'no-tuple'
  readonly instance: InstanceKey
  /** The derivation that would give `role` on the instance. */
  readonly derivation: Derivation
  readonly role: string
  /**
   * An instance on which the user directly holds the role that the derivation requires. There can be others.
   */
  readonly heldOn: InstanceKey
}

export const NO_NEAR_MISSES: NearMisses = { found: [], hasMore: false }

/**
 * Detail for rules. `none`: only the rules that allow. `leaf`: for each side, the test that decided it.
 * `tree`: for each side, the whole trees of conditions.
 */
export type RuleDetail = 'none' | 'leaf' | 'tree'

/** Maximum number of rules in an explanation, and of sets that it names for each side. */
export const RULES_EXPLAINED_MAX = 100

export interface ExplainedByRules {
  readonly allow: boolean
  /**
   * Reason why the request attributes could not be read and count as missing. `null` if they were read, or if
   * no rule needs them.
   */
  readonly unread: string | null
  /** Number of rules for the type and action. `null` if the environment has no rules at all. */
  readonly count: number | null
  /** Rules, with those that allow first. With the detail `none`, only rules that allow are listed. */
  readonly rules: readonly ExplainedRule[]
  /** Whether there are rules that are not listed. */
  readonly hasMore: boolean
  /**
   * Sets of the rules that are true. Each side is evaluated independently of the other. If very many sets are
   * true, the lists contain only some of them.
   */
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

/** Result of evaluating conditions for one query. The conditions need not belong to a rule. */
export interface TriedConditions {
  readonly value: ExplainedSide['value']
  /** Trees of the conditions, in the order of the conditions. */
  readonly trees: ExplainedSide['trees']
  /**
   * True if the steps of the query were not sufficient. The tests that could not be evaluated are then
   * unknown.
   */
  readonly isOverBudget: boolean
}

/** A side of a rule. It has trees only if the requested detail includes them. */
export type ExplainedRuleSide = Omit<ExplainedSide, 'nodes'>

export const NO_RULES: ExplainedByRules = {
  allow: false,
  unread: null,
  count: null,
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
 * One derivation on a path. The role of the previous step, through this tuple, gives `role` on `object`. The
 * tuple can expire.
 */
export interface DerivationStep extends Expiration {
  readonly kind: 'derivation'
  readonly subject: InstanceKey
  readonly relation: string
  readonly object: InstanceKey
  readonly role: string
  readonly derivation: Derivation
}
