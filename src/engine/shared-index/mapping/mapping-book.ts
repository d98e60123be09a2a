/**
 * The mapping rules of an environment as the writer keeps them. A rule goes on fitting its URLs when its type or action is gone: the
 * question is denied then, where without the rule a wider one might come to fit.
 */
import type { MappingPut } from '#model/change.ts'

export class MappingBook {
  readonly #configs = new Map<string, MappingPut>()

  /** O(configs), for what was saved. */
  restore(configs: readonly MappingPut[]): void {
    for (const config of configs) this.#configs.set(config.config, config)
  }

  save(): readonly MappingPut[] {
    return [...this.#configs.values()]
  }

  /** Whether anything is different now; the same below. */
  put(put: MappingPut): boolean {
    if (put.rules.length === 0) return this.#configs.delete(put.config)
    this.#configs.set(put.config, put)
    return true
  }

  remove(config: string): boolean {
    return this.#configs.delete(config)
  }
}
