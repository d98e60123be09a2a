/**
 * Represents a condition as a tree of frozen nodes, which is parsed from JSON once (`read-condition.ts`).
 * Three visitors process these trees: evaluation, explanation, and validation against declared attributes.
 */
import type { AllOf } from '#conditions/nodes/all-of.ts'
import type { AnyOf } from '#conditions/nodes/any-of.ts'
import type { ArrayComparison } from '#conditions/nodes/array-comparison.ts'
import type { ArrayContains } from '#conditions/nodes/array-contains.ts'
import type { ArrayLength } from '#conditions/nodes/array-length.ts'
import type { Between } from '#conditions/nodes/between.ts'
import type { Contains } from '#conditions/nodes/contains.ts'
import type { Equality } from '#conditions/nodes/equality.ts'
import type { Existence } from '#conditions/nodes/existence.ts'
import type { GlobMatch } from '#conditions/nodes/glob-match.ts'
import type { MemberMatch } from '#conditions/nodes/member-match.ts'
import type { Membership } from '#conditions/nodes/membership.ts'
import type { Not } from '#conditions/nodes/not.ts'
import type { Ordering } from '#conditions/nodes/ordering.ts'

/** A test of one attribute. */
export type Test =
  | ArrayComparison
  | ArrayContains
  | ArrayLength
  | Between
  | Contains
  | Equality
  | Existence
  | GlobMatch
  | MemberMatch<Condition>
  | Membership
  | Ordering

export type Condition = AllOf<Condition> | AnyOf<Condition> | Not<Condition> | Test
