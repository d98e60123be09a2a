/** Assigns error messages of the API to form fields, and formats an expiration time within a sentence. */
import { type FieldProblem, Problem } from '../interface/problem.ts'
import { useSpoken } from '../texts/texts.tsx'
import type { End } from '../interface/granted.ts'

/**
 * Finds the error for a field, by its name or by the typed text that the message quotes. Null if there is
 * none.
 */
export function fieldErrorOf(problem: unknown, field: string, typed = ''): FieldProblem | null {
  if (!(problem instanceof Problem)) return null
  const named = problem.about(field)
  if (named !== null) return named
  return typed !== '' && problem.message.includes(JSON.stringify(typed)) ? problem : null
}

/**
 * Suffix for a sentence: ` until 3 Dec 2026`. Empty if the grant does not expire or the typed text is not a
 * date.
 */
export function useUntil(): (end: End) => string {
  const { texts, moment } = useSpoken()
  return end => (end === null || Number.isNaN(Date.parse(end)) ? '' : ` ${texts.parts.until(moment(end))}`)
}
