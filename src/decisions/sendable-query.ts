/** A question as it crosses threads: what it brings along is read before, since a reader of a body cannot be sent. */
import type { Circumstances, Query, SentAttributes } from '#model/decision.ts'
import { AuthzError, type ErrorData, errorFromData, errorToData } from '#model/errors.ts'

export interface SendableQuery extends Omit<Query, 'circumstances'> {
  readonly said: { readonly readAt: number; readonly attributes: SentAttributes | Refused } | null
}

/** Attributes that cannot be read: whoever asks for them there hears why, and nobody else does. */
interface Refused {
  readonly refused: ErrorData
}

export function sendable({ circumstances, ...query }: Query): SendableQuery {
  if (!circumstances) return { ...query, said: null }
  return { ...query, said: { readAt: circumstances.readAt, attributes: readNow(circumstances) } }
}

export function received({ said, ...query }: SendableQuery): Query {
  if (said === null) return query
  const { readAt, attributes } = said
  const sent = (): SentAttributes => {
    if ('refused' in attributes) throw errorFromData(attributes.refused)
    return attributes
  }
  return { ...query, circumstances: { readAt, sent } }
}

function readNow(circumstances: Circumstances): SentAttributes | Refused {
  try {
    return circumstances.sent()
  } catch (error) {
    if (!(error instanceof AuthzError)) throw error
    return { refused: errorToData(error) }
  }
}
