/** Reads attributes and context of a query from its JSON text, which was validated before (`http/bytes`). */
import type { SentAttributes } from '#model/decision.ts'
import { parsedJson } from '#model/json-numbers.ts'
import { SENT_ATTRIBUTES_BYTES_MAX } from '#model/limits.ts'
import type { EvaluationRequest, EvaluationsRequest } from '#model/wire/access.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'
import { attributesOf } from './access-defaults.ts'
import { AccessQueryContext, NativeQueryContext } from './request-attributes.ts'

/**
 * `JSON.stringify` can produce a text that is this many times longer than the JSON that was received: `1e20`
 * is written with one digit per power of ten.
 */
const REWRITTEN_FACTOR = 6
/** A query text of at most this many bytes cannot exceed the limit on attributes. */
export const SENT_TEXT_BYTES_MAX = Math.floor(SENT_ATTRIBUTES_BYTES_MAX / REWRITTEN_FACTOR)

/**
 * Reads the attributes and context of the query with this text in the body. Throws `LIMIT_EXCEEDED` if the
 * attributes are too large.
 */
export type AttributesReader = (text: string, body: Buffer) => SentAttributes

export function nativeSent(text: string): SentAttributes {
  return new NativeQueryContext(parsedJson(text) as AllowedQuery, 0).sent()
}

export function accessSent(text: string): SentAttributes {
  return new AccessQueryContext(parsedJson(text) as EvaluationRequest, 0).sent()
}

/** Positions of the items of a batch in its body, and the end of the body. */
export interface ItemsInBody {
  readonly from: number
  readonly to: number
  readonly end: number
}

/**
 * Returns a reader for the items of a batch, including inherited values. Inherited values are parsed once, on
 * first use.
 */
export function itemsSent(items: ItemsInBody): AttributesReader {
  let batch: EvaluationsRequest | null = null
  return (text, body) => {
    batch ??= withoutItems(body, items)
    return new AccessQueryContext(attributesOf(parsedJson(text), batch), 0).sent()
  }
}

function withoutItems(body: Buffer, { from, to, end }: ItemsInBody): EvaluationsRequest {
  const [before, behind] = [body.toString('utf8', 0, from), body.toString('utf8', to, end)]
  return parsedJson(`${before}null${behind}`) as EvaluationsRequest
}
