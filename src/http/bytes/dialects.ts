/** The dialects of a single question: which fields a reader accepts, and which query they make. */
import { accessSent, nativeSent, type SaidReader } from '#decisions/said-in-texts.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import type { ReadQuestion } from './list-reader.ts'
import { type Fields, ITEM_FIELDS, QUESTION_FIELDS } from './question-fields.ts'
import type { QuestionReader } from './question-reader.ts'

/** A dialect of single questions, which inherit nothing. */
export interface Dialect {
  readonly fields: Fields
  /** `known` has the terms of the question before. Null leaves the question to the ordinary parser. */
  asked(reader: QuestionReader, known: QueryTerms | null): ReadQuestion | null
  /** What a question that was read says beside. */
  readonly sent: SaidReader
}

/** The dialect of `/allowed`, alone or in a bulk. Its fields say what is required. */
export const NATIVE: Dialect = {
  fields: QUESTION_FIELDS,
  asked: asksOfUser,
  sent: nativeSent,
}

/**
 * Of an AuthZEN evaluation that is no item of a batch. `isStrict`: a resource must have an id. Subjects of other types than
 * `subjectTypes` are no users, and nothing is asked about them.
 */
export function evaluationDialect(options: {
  readonly subjectTypes: ReadonlySet<string>
  readonly isStrict: boolean
}): Dialect {
  return {
    fields: ITEM_FIELDS,
    sent: accessSent,
    asked: (reader, known) => {
      const { user, subjectType, action, type, key } = reader
      if (user.from === 0 || action.from === 0 || type.from === 0) return null
      if (options.isStrict && key.from === 0) return null
      return options.subjectTypes.has(reader.text(subjectType)) ? asksOfUser(reader, known) : null
    },
  }
}

function asksOfUser(reader: QuestionReader, known: QueryTerms | null): ReadQuestion {
  const { user, key } = reader
  return { terms: reader.terms(known), user, key: key.from === 0 ? 'none' : key }
}
