/** A question as it crosses threads: what it brings along is read before, since a reader of a body cannot be sent. */
import type { Query, SentAttributes } from '#model/decision.ts'

export interface SendableQuery extends Omit<Query, 'circumstances'> {
  readonly said: { readonly readAt: number; readonly attributes: SentAttributes } | null
}

/** Throws what reading the attributes throws. */
export function sendable({ circumstances, ...query }: Query): SendableQuery {
  if (!circumstances) return { ...query, said: null }
  return { ...query, said: { readAt: circumstances.readAt, attributes: circumstances.sent() } }
}

export function received({ said, ...query }: SendableQuery): Query {
  if (said === null) return query
  return { ...query, circumstances: { readAt: said.readAt, sent: () => said.attributes } }
}
