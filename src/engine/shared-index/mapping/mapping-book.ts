/**
 * Stores the mapping rules of an environment for the writer. A rule still matches its URLs after its type or
 * action has been deleted: the query is then denied. Without the rule, a more general one might match
 * instead.
 */
import type { MappingPut } from '#model/change.ts'

export class MappingBook {
  readonly #configs = new Map<string, MappingPut>()

  /** Restores the rules from a snapshot. O(configs). */
  restore(configs: readonly MappingPut[]): void {
    for (const config of configs) this.#configs.set(config.config, config)
  }

  save(): readonly MappingPut[] {
    return [...this.#configs.values()]
  }

  /** Returns whether anything changed; the same applies to the methods below. */
  put(put: MappingPut): boolean {
    if (put.rules.length === 0) return this.#configs.delete(put.config)
    this.#configs.set(put.config, put)
    return true
  }

  remove(config: string): boolean {
    return this.#configs.delete(config)
  }
}
