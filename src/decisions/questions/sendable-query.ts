/**
 * Prepares a query for the transfer to another thread. The attributes and the context are read first, because
 * an object that reads them from the request body cannot be transferred.
 */
import type { QueryContext, Query, SentAttributes } from '#model/decision.ts'
import { AuthzError, type ErrorData, errorFromData, errorToData } from '#model/errors.ts'

interface Asking {
  readonly queryContext?: QueryContext
}

interface WithRequestAttributes {
  readonly requestAttributes: {
    readonly readAt: number
    readonly attributes: SentAttributes | Refused
  } | null
}

/**
 * The error that occurred when the attributes were read. The other thread throws it when it reads the
 * attributes.
 */
interface Refused {
  readonly refused: ErrorData
}

/** A query of any kind, without the members that cannot be transferred. */
export type Sendable<Question extends Asking> = Omit<Question, 'queryContext'> & WithRequestAttributes

export type SendableQuery = Sendable<Query>

export function sendable<Question extends Asking>(asked: Question): Sendable<Question> {
  const { queryContext, ...question } = asked
  if (!queryContext) return { ...question, requestAttributes: null }
  return {
    ...question,
    requestAttributes: { readAt: queryContext.readAt, attributes: readNow(queryContext) },
  }
}

export function received<Names extends WithRequestAttributes>(
  given: Names,
): Omit<Names, 'requestAttributes'> & Asking {
  const { requestAttributes, ...question } = given
  if (requestAttributes === null) return question
  const { readAt, attributes } = requestAttributes
  const sent = (): SentAttributes => {
    if ('refused' in attributes) throw errorFromData(attributes.refused)
    return attributes
  }
  return { ...question, queryContext: { readAt, sent } }
}

function readNow(queryContext: QueryContext): SentAttributes | Refused {
  try {
    return queryContext.sent()
  } catch (error) {
    if (!(error instanceof AuthzError)) throw error
    return { refused: errorToData(error) }
  }
}
