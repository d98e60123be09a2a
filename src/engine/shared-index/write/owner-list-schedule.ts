/** When lists of owners are begun, built and given up: in idle moments, after the rules have changed. */
import type { OwnerLists } from '#engine/shared-index/owners/owner-lists.ts'
import { type WantedList, wantedLists } from '#engine/shared-index/owners/wanted-lists.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Schema } from '#engine/shared-index/schema/schema.ts'

export class OwnerListSchedule {
  readonly #owners: OwnerLists
  readonly #schema: Schema
  /** Of the rules whose lists are kept; those of an empty environment want none. */
  #version = 0
  #wanted: readonly { readonly type: number; readonly name: string }[] = []
  #areAllKept = true
  #wanting: { readonly version: number; readonly work: Generator<void, readonly WantedList[]> } | null = null

  constructor(owners: OwnerLists, schema: Schema) {
    this.#owners = owners
    this.#schema = schema
    // A restored schema has rules that nobody has put since.
    if (schema.hasRules) this.#version = -1
  }

  /** A step: about `records` records of a list, or some sets and rules. `inSection`: readers see what is done there. False: all is done. */
  step(records: number, inSection: (work: () => void) => void): boolean {
    const version = this.#schema.rulesVersion
    if (this.#wanting === null && this.#version === version) return this.#build(records, inSection)
    // What was found of earlier rules is not used.
    if (this.#wanting?.version !== version) {
      this.#wanting = { version, work: wantedLists(this.#schema.rules) }
    }
    const step = this.#wanting.work.next()
    if (!step.done) return true
    const { types } = this.#schema
    const wanted = step.value.flatMap(({ type, name }) => {
      const id = type === null ? L.USER_TYPE : types.get(type)?.id
      return id === undefined ? [] : [{ type: id, name }]
    })
    this.#wanted = wanted
    this.#version = version
    this.#wanting = null
    inSection(() => this.#keep())
    return true
  }

  #keep(): void {
    this.#areAllKept = this.#owners.keep(this.#wanted)
  }

  #build(records: number, inSection: (work: () => void) => void): boolean {
    const { isDone, publish } = this.#owners.build(records)
    if (publish !== null) inSection(publish)
    if (!isDone || this.#areAllKept) return !isDone
    // What was dropped has made room.
    inSection(() => this.#keep())
    return true
  }
}
