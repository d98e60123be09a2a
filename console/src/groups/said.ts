/** Where the interface's sentences belong, and how an end is said within one. */
import { type FieldProblem, Problem } from '../interface/problem.ts'
import { useSpoken } from '../texts/texts.tsx'
import type { End } from '../interface/granted.ts'

/** What is said of a field: by its name, or by quoting what was typed there. Null: nothing. */
export function saidOf(problem: unknown, field: string, typed = ''): FieldProblem | null {
  if (!(problem instanceof Problem)) return null
  const named = problem.about(field)
  if (named !== null) return named
  return typed !== '' && problem.message.includes(JSON.stringify(typed)) ? problem : null
}

/** Behind a sentence: `, until 3 Dec 2026`; nothing where it lasts, or where what is typed is no moment. */
export function useUntil(): (end: End) => string {
  const { texts, moment } = useSpoken()
  return end => (end === null || Number.isNaN(Date.parse(end)) ? '' : `, ${texts.parts.until(moment(end))}`)
}
