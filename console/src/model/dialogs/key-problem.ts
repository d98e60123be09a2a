/** What the interface says of a key: that it may not be one, or that something has it. */
import { Problem } from '../../interface/problem.ts'

export function aboutKey(problem: unknown): string | null {
  if (!(problem instanceof Problem)) return null
  return problem.status === 409 ? problem.message : problem.about('key')
}
