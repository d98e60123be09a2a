/**
 * How long a read in slices may keep threads in all. What it costs to ask rules about each of many candidates is known only when it is
 * done, so that no count of entries bounds it.
 */
import { AuthzError } from '#model/errors.ts'

/** Of the time in slices; hundred times what the largest lists take. */
export const READ_MS_MAX = 10_000

export class ReadTime {
  #spentMs = 0

  /** Counts a slice. Throws `LIMIT_EXCEEDED` for one that ends beyond the ceiling. */
  spend(ms: number): void {
    this.#spentMs += ms
    if (this.#spentMs <= READ_MS_MAX) return
    throw new AuthzError(
      'LIMIT_EXCEEDED',
      `this would take longer than ${READ_MS_MAX} ms; narrow it by tenants, types or names, or page through a search`,
      { limit: 'list' },
    )
  }
}
