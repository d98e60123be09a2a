/**
 * Makes a query ready for transfer to another thread. Its attributes and context are read first, because a
 * reader of a request body cannot be transferred.
 */
import type { Circumstances, Query, SentAttributes } from '#model/decision.ts'
import { AuthzError, type ErrorData, errorFromData, errorToData } from '#model/errors.ts'

interface Asking {
  readonly circumstances?: Circumstances
}

interface Said {
  readonly said: { readonly readAt: number; readonly attributes: SentAttributes | Refused } | null
}

/** Attributes that cannot be read. Reading them on the other thread throws the reason. */
interface Refused {
  readonly refused: ErrorData
}

/** A query of any kind without the members that cannot be transferred. */
export type Sendable<Question extends Asking> = Omit<Question, 'circumstances'> & Said

export type SendableQuery = Sendable<Query>

export function sendable<Question extends Asking>(asked: Question): Sendable<Question> {
  const { circumstances, ...question } = asked
  if (!circumstances) return { ...question, said: null }
  return { ...question, said: { readAt: circumstances.readAt, attributes: readNow(circumstances) } }
}

export function received<Names extends Said>(given: Names): Omit<Names, 'said'> & Asking {
  const { said, ...question } = given
  if (said === null) return question
  const { readAt, attributes } = said
  const sent = (): SentAttributes => {
    if ('refused' in attributes) throw errorFromData(attributes.refused)
    return attributes
  }
  return { ...question, circumstances: { readAt, sent } }
}

function readNow(circumstances: Circumstances): SentAttributes | Refused {
  try {
    return circumstances.sent()
  } catch (error) {
    if (!(error instanceof AuthzError)) throw error
    return { refused: errorToData(error) }
  }
}
