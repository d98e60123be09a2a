/**
 * Assigns error messages of the API to fields of a form. Also formats an expiration time as a part of a
 * sentence.
 */
import { type FieldProblem, Problem } from '../interface/problem.ts'
import { useSpoken } from '../texts/texts.tsx'
import type { End } from '../interface/granted.ts'

/**
 * Finds the error about a field. An error is about the field if it contains the name of the field, or if its
 * message quotes the typed text. Null if there is none.
 */
export function fieldErrorOf(problem: unknown, field: string, typed = ''): FieldProblem | null {
  if (!(problem instanceof Problem)) return null
  const named = problem.about(field)
  if (named !== null) return named
  return typed !== '' && problem.message.includes(JSON.stringify(typed)) ? problem : null
}

/**
 * Returns the end of a sentence, such as ` until 3 Dec 2026`. The result is empty if the grant does not
 * expire or if the typed text is not a date.
 */
export function useUntil(): (end: End) => string {
  const { texts, moment } = useSpoken()
  return end => (end === null || Number.isNaN(Date.parse(end)) ? '' : ` ${texts.parts.until(moment(end))}`)
}
