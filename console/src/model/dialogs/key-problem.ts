/** What the interface says of a key: that it may not be one, or that something has it. */
import { type FieldProblem, Problem } from '../../interface/problem.ts'

export function aboutKey(problem: unknown): FieldProblem | null {
  if (!(problem instanceof Problem)) return null
  return problem.status === 409 ? problem : problem.about('key')
}
