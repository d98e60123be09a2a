/**
 * Collects the condition sets and rules that have changed since a follower last took the changes. Contains
 * the latest state of each, not every change.
 */
import type { ConditionSetPut, RuleChange } from '#model/change.ts'

/** The same object for as long as the rule exists. */
export interface CurrentRule {
  readonly name: string
  /** In the form of `rule-code.ts`. */
  readonly permission: string
  readonly rule: RuleChange
}

export class RuleJournal {
  /** By key: the current set; null: it was removed. */
  readonly sets = new Map<string, ConditionSetPut | null>()
  /**
   * Whether the rule was added; otherwise it was removed. A rule that was added and removed again is absent.
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
