/**
 * Stores the mapping rules of an environment for the writer. A rule is kept and matches its URLs even after
 * its type or action has been deleted; the mapped query is then denied. If the rule were removed, a more
 * general rule might match these URLs instead.
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

  /** Stores a config, or deletes it if it has no rules. Returns whether anything changed. */
  put(put: MappingPut): boolean {
    if (put.rules.length === 0) return this.#configs.delete(put.config)
    this.#configs.set(put.config, put)
    return true
  }

  remove(config: string): boolean {
    return this.#configs.delete(config)
  }
}
