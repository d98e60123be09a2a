/** Why a decision is what it is, in facts and names. */
import type { ExplainedSide } from '#conditions/explain.ts'
import type { Derivation, Ending, InstanceKey } from '#model/change.ts'

export interface Explanation {
  readonly allow: boolean
  /** What roles alone say. */
  readonly isAllowedByRoles: boolean
  /** The tenant the question was answered in (native.md A.2, D-15). */
  readonly tenant: string
  /** Which of the names in the question are known. */
  readonly known: {
    readonly user: boolean
    readonly tenant: boolean
    readonly type: boolean
    /** Declared on the type. */
    readonly action: boolean
    /** Stored; false as well when the question has no key. */
    readonly instance: boolean
  }
  /** The named tenant is not the stored instance's: denied, whatever the user holds (native.md D-14). */
  readonly isTenantMismatch: boolean
  /** Tenant roles the user holds in the tenant, and those among all tenant roles that would allow. */
  readonly tenantRoles: {
    readonly held: readonly string[]
    readonly allowing: readonly string[]
    /** False only if the user is known to hold no tenant role in any tenant. */
    readonly isHeldAnywhere: boolean
  }
  /**
   * The same for roles on the instance. Held roles are direct or derived; if the explanation was cut short,
   * some may be missing.
   */
  readonly instanceRoles: { readonly held: readonly string[]; readonly allowing: readonly string[] }
  /** A shortest way that allows, from what the user holds to what was asked; empty for a deny. */
  readonly path: readonly ExplanationStep[]
  /** What would have allowed, but for one thing, where roles deny. Not looked for with the detail `none`. */
  readonly nearMisses: NearMisses
  /** What rules on the type and action say (conditions.md 9). Where they allow, nothing else need. */
  readonly rules: ExplainedByRules
  /**
   * More leads to the instance than was walked, or the path is too long. `instanceRoles.held` may then miss
   * roles, and an allow may have no path. What is given is true, and the decision is right.
   */
  readonly isCutShort: boolean
  /** Steps the walks made. */
  readonly steps: number
}

/** Near misses that are told; roles that one of them names; derivations between one and what was asked. */
export const NEAR_MISSES_MAX = 3
export const NEAR_MISS_ROLES_MAX = 20
export const NEAR_MISS_STEPS_MAX = 32

export interface NearMisses {
  /** The nearest first: those with the fewest derivations between them and what was asked. */
  readonly found: readonly NearMiss[]
  /** There are more, or may be: more leads there than was walked. */
  readonly hasMore: boolean
}

export type NearMiss = NotThatRole | VoidByGuard | NotRelated

/** On another instance the user holds roles, but none of those from which a role that allows is derived. */
export interface NotThatRole {
  readonly kind: 'other-role'
  readonly instance: InstanceKey
  /** Any of them would allow, all over as few derivations. */
  readonly needed: readonly string[]
  readonly held: readonly RoleHeldInstead[]
  /** From one of the needed roles to what was asked. */
  readonly path: readonly DerivationStep[]
}

export interface RoleHeldInstead {
  readonly role: string
  /** It has the permissions of a needed role, since it extends it. A derivation asks for the role itself. */
  readonly extendsNeeded: boolean
}

/** The user holds a role from which one that allows is derived, but a guard makes the derivation void. */
export interface VoidByGuard {
  readonly kind: 'guard'
  /** The object of the derivation. */
  readonly instance: InstanceKey
  /** Roles held directly on it. */
  readonly blocking: readonly string[]
  /** From the role that is held to what was asked; the first step is the void one. */
  readonly path: readonly DerivationStep[]
}

/** The user holds a role from which one that allows is derived, but no tuple of the relation leads to what was asked. */
export interface NotRelated {
  readonly kind: 'no-tuple'
  readonly instance: InstanceKey
  /** What would give `role` on the instance. */
  readonly derivation: Derivation
  readonly role: string
  /** One of the instances on which the user holds the derivation's role directly. */
  readonly heldOn: InstanceKey
}

export const NO_NEAR_MISSES: NearMisses = { found: [], hasMore: false }

/** How much is told of rules: which allow and nothing else, the test that decided each side, or its whole trees. */
export type RuleDetail = 'none' | 'leaf' | 'tree'

/** Rules that an explanation lists, and sets of each side that it names. */
export const RULES_EXPLAINED_MAX = 100

export interface ExplainedByRules {
  readonly allow: boolean
  /** Why what was sent could not be read, and counts as not sent here; `null`: it was read, or no rule asks for it. */
  readonly unread: string | null
  /** Rules there are on the type and action. */
  readonly count: number
  /** Those that allow come first; with the detail `none` there are no others. */
  readonly rules: readonly ExplainedRule[]
  /** There are more. */
  readonly hasMore: boolean
  /** Sets of rules that match by themselves, some of them where there are very many. */
  readonly userSets: readonly string[]
  readonly resourceSets: readonly string[]
}

/** A rule allows where both sides are true. */
export interface ExplainedRule {
  readonly userSet: string
  readonly resourceSet: string
  readonly allows: boolean
  readonly user: ExplainedRuleSide
  readonly resource: ExplainedRuleSide
}

/** Conditions that no rule has, evaluated for a question. */
export interface TriedConditions {
  readonly value: ExplainedSide['value']
  /** Of each of the conditions, in order. */
  readonly trees: ExplainedSide['trees']
  /** The steps of a question were not enough: tests for which none were left are unknown. */
  readonly isOverBudget: boolean
}

/** Without trees, unless they are asked for. */
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
  | ({ readonly kind: 'tenant-role'; readonly tenant: string; readonly role: string } & Ending)
  | ({ readonly kind: 'instance-role'; readonly instance: InstanceKey; readonly role: string } & Ending)
  | DerivationStep

/** The previous step's role, over this tuple, which may end, and by this derivation, gives `role` on `object`. */
export interface DerivationStep extends Ending {
  readonly kind: 'derivation'
  readonly subject: InstanceKey
  readonly relation: string
  readonly object: InstanceKey
  readonly role: string
  readonly derivation: Derivation
}
