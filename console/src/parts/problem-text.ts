/**
 * Texts about an error: a sentence in the language of the console, and the message of the service in English.
 */
import { type FieldProblem, type Finding, Problem } from '../interface/problem.ts'
import type { Texts } from '../texts/en.ts'

export interface ProblemText {
  /** Sentence of the console. Empty if the message of the service is sufficient. */
  readonly sentence: string
  /** Message of the service. Null if it contains no further information. */
  readonly words: string | null
}

/** Null without an error. */
export function problemText(error: unknown, { parts, problems, account }: Texts): ProblemText | null {
  if (error === null || error === undefined) return null
  if (!(error instanceof Problem))
    return only(parts.defect(error instanceof Error ? error.message : String(error)))
  if (error.status === 0) return only(parts.unreachable)
  if (error.isStale) return only(parts.stale)
  if (error.levels !== null) return only(account.missingLevel(error.levels.needed, error.levels.held))
  const first = problems.first === null ? null : firstOf(error, problems.first)
  return first === null
    ? { sentence: '', words: error.message }
    : { sentence: first, words: error.particulars }
}

/** Error codes that are too general. For these codes, the sentence also depends on the HTTP status. */
const BROAD_CODES: readonly string[] = ['INVALID_INPUT', 'UNEXPECTED_ERROR']

function firstOf(
  { code, status }: Problem,
  { codes, statuses }: NonNullable<Texts['problems']['first']>,
): string | null {
  const ofCode = (codes as Readonly<Record<string, string>>)[code]
  const ofStatus = statuses[status]
  return (BROAD_CODES.includes(code) ? (ofStatus ?? ofCode) : (ofCode ?? ofStatus)) ?? null
}

/** Text of an error next to a field. */
export function fieldProblemText(problem: FieldProblem, texts: Texts): ProblemText | null {
  if (typeof problem === 'string') return only(problem)
  if (!(problem instanceof Problem)) return findingText(problem, texts)
  return problem.code === 'DUPLICATE_ENTITY'
    ? { sentence: texts.problems.fields.exists, words: null }
    : problemText(problem, texts)
}

/**
 * Matches the pattern for keys in a message of the service. It contains the valid characters and the maximum
 * length.
 */
const KEY_PATTERN = /"\^\[A-Za-z0-9\\-_\]\{1,(\d+)\}\$"/

function findingText({ kind, message }: Finding, { problems: { fields } }: Texts): ProblemText {
  const figure = /\d+/.exec(message)?.[0]
  switch (kind) {
    case 'missing':
      return only(fields.missing)
    case 'minLength':
      if (figure === '1') return only(fields.missing)
      break
    case 'maxLength':
      if (figure !== undefined) return only(fields.tooLong(figure))
      break
    case 'pattern': {
      const most = KEY_PATTERN.exec(message)?.[1]
      if (most !== undefined) return only(fields.key(most))
      break
    }
    case 'format':
      return { sentence: fields.moment, words: message }
  }
  return { sentence: fields.other ?? '', words: message }
}

function only(sentence: string): ProblemText {
  return { sentence, words: null }
}
