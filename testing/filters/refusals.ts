/** Runs an adapter. */
import { FilterError } from '#filter/filter-error.ts'

/** Returns null if the target cannot express the filter. */
export function unlessRefused<Result>(run: () => Result): Result | null {
  try {
    return run()
  } catch (error) {
    if (error instanceof FilterError && error.code === 'NOT_EXPRESSIBLE') return null
    throw error
  }
}
