/**
 * Collects the condition sets and rules that have changed since a follower last took the changes. Contains
 * the latest state of each set and rule, and not the individual changes.
 */
import type { ConditionSetPut, RuleChange } from '#model/change.ts'

/**
 * A rule that exists. Its object stays the same for as long as the rule exists, and serves as its identity.
 */
export interface CurrentRule {
  readonly name: string
  /** The permission, in the form that `rule-code.ts` defines. */
  readonly permission: string
  readonly rule: RuleChange
}

export class RuleJournal {
  /** Changed sets by key. Null means that the set was removed. */
  readonly sets = new Map<string, ConditionSetPut | null>()
  /**
   * Changed rules: true if the rule was added, false if it was removed. A rule that was added and then
   * removed is not contained.
   */
  readonly rules = new Map<CurrentRule, boolean>()

  get isEmpty(): boolean {
    return this.sets.size === 0 && this.rules.size === 0
  }

  noteRule(rule: CurrentRule, isAdded: boolean): void {
    if (!isAdded && this.rules.get(rule) === true) this.rules.delete(rule)
    else this.rules.set(rule, isAdded)
  }
}
