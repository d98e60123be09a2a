/**
 * Schedules the building and removal of lists of the attribute index. They run in idle periods after rules
 * have changed.
 */
import type { PostingLists } from '#engine/shared-index/attribute-index/posting-lists.ts'
import { RequiredLists } from '#engine/shared-index/attribute-index/required-lists.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Schema } from '#engine/shared-index/schema/schema.ts'

export class PostingListSchedule {
  readonly #postingLists: PostingLists
  readonly #schema: Schema
  readonly #requiredByRules = new RequiredLists()
  /** The processing of changed rules, if it is in progress. */
  #following: Generator<void> | null = null
  #required: readonly { readonly type: number; readonly name: string }[] = []
  #areAllKept = true

  constructor(postingLists: PostingLists, schema: Schema) {
    this.#postingLists = postingLists
    this.#schema = schema
  }

  /**
   * Performs one step: processes about `records` records of a list, or some sets and rules. The function
   * `inSection` runs its argument in a critical section, which is needed for work that readers can see.
   * Returns false if no work remains.
   */
  step(records: number, inSection: (work: () => void) => void): boolean {
    if (this.#following === null && this.#schema.areRulesChangedFor('lists')) {
      this.#following = this.#requiredByRules.follow(this.#schema.takeRuleChanges('lists'))
    }
    if (this.#following === null) return this.#build(records, inSection)
    if (!this.#following.next().done) return true
    this.#following = null
    const lists = this.#requiredByRules.lists()
    if (lists === null) return true
    const { types } = this.#schema
    this.#required = lists.flatMap(({ type, name }) => {
      const id = type === null ? L.USER_TYPE : types.get(type)?.id
      return id === undefined ? [] : [{ type: id, name }]
    })
    inSection(() => this.#keep())
    return true
  }

  #keep(): void {
    this.#areAllKept = this.#postingLists.keep(this.#required)
  }

  #build(records: number, inSection: (work: () => void) => void): boolean {
    const { isDone, publish } = this.#postingLists.build(records)
    if (publish !== null) inSection(publish)
    if (!isDone || this.#areAllKept) return !isDone
    // Some lists lacked memory. Tries again, because dropped lists have now freed theirs.
    inSection(() => this.#keep())
    return true
  }
}
