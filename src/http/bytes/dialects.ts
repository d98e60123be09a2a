/**
 * Dialects of single queries. A dialect defines which fields a reader accepts and how it builds a query from
 * them.
 */
import { accessSent, nativeSent, type AttributesReader } from '#decisions/dialects/attributes-in-text.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import type { ReadQuestion } from './list-reader.ts'
import { type ObjectFields, ITEM_FIELDS, QUESTION_FIELDS } from './question-fields.ts'
import type { QuestionReader } from './question-reader.ts'

/** Dialect of single queries, which are queries that inherit no values from defaults. */
export interface Dialect {
  readonly fields: ObjectFields
  /**
   * Builds the query that the reader has just read. `known` contains the terms of the previous query, which
   * are returned if they are the same. Returns null if the fallback parser must handle the query.
   */
  asked(reader: QuestionReader, known: QueryTerms | null): ReadQuestion | null
  /** Reads the attributes and the context of a query. */
  readonly sent: AttributesReader
}

/**
 * The dialect of `/allowed`, both for single checks and in bulks. `QUESTION_FIELDS` defines which fields are
 * required.
 */
export const NATIVE: Dialect = {
  fields: QUESTION_FIELDS,
  asked: asksOfUser,
  sent: nativeSent,
}

/**
 * The dialect of an AuthZEN evaluation outside of a batch. `isStrict`: whether a resource must have an ID. If
 * the type of a subject is not in `subjectTypes`, the subject is not a user, and the query is left to the
 * fallback parser.
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
