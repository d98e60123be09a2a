/** Dialects of single queries: the fields that a reader accepts, and the query that it builds from them. */
import { accessSent, nativeSent, type AttributesReader } from '#decisions/attributes-in-text.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import type { ReadQuestion } from './list-reader.ts'
import { type ObjectFields, ITEM_FIELDS, QUESTION_FIELDS } from './question-fields.ts'
import type { QuestionReader } from './question-reader.ts'

/** A dialect of single queries, which inherit nothing. */
export interface Dialect {
  readonly fields: ObjectFields
  /**
   * Builds the query that the reader has read. `known` contains the terms of the previous query. Null: the
   * query is left to the fallback parser.
   */
  asked(reader: QuestionReader, known: QueryTerms | null): ReadQuestion | null
  /** Reader of the attributes and the context of a query. */
  readonly sent: AttributesReader
}

/**
 * The dialect of `/allowed`, both for single checks and in bulks. Its fields define which ones are required.
 */
export const NATIVE: Dialect = {
  fields: QUESTION_FIELDS,
  asked: asksOfUser,
  sent: nativeSent,
}

/**
 * The dialect of an AuthZEN evaluation outside of a batch. `isStrict`: a resource must have an ID. Subjects
 * whose type is not in `subjectTypes` are not users, so no decision is made for them.
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
