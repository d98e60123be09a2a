/**
 * Reads the attributes and the context of a query from its JSON text. The text has already been validated
 * (`http/bytes`).
 */
import type { SentAttributes } from '#model/decision.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import { SENT_ATTRIBUTES_BYTES_MAX } from '#model/limits.ts'
import type { EvaluationRequest, EvaluationsRequest } from '#model/wire/decisions/access.ts'
import type { AllowedQuery } from '#model/wire/decisions/decision.ts'
import { attributesOf } from './access-defaults.ts'
import { AccessQueryContext, NativeQueryContext } from '#decisions/questions/request-attributes.ts'

/**
 * Maximum factor by which `JSON.stringify` can make JSON longer than the received text. For example, it
 * writes `1e20` with all digits.
 */
const REWRITTEN_FACTOR = 6
/** Maximum size of a query text whose attributes cannot exceed their limit, even after they are rewritten. */
export const SENT_TEXT_BYTES_MAX = Math.floor(SENT_ATTRIBUTES_BYTES_MAX / REWRITTEN_FACTOR)

/**
 * Reads the attributes and context of a query. `text` is the JSON text of the query, and `body` is the body
 * that contains it. Throws `LIMIT_EXCEEDED` if the attributes are too large.
 */
export type AttributesReader = (text: string, body: Buffer) => SentAttributes

export function nativeSent(text: string): SentAttributes {
  return new NativeQueryContext(parsedJson(text) as AllowedQuery, 0).sent()
}

export function accessSent(text: string): SentAttributes {
  return new AccessQueryContext(parsedJson(text) as EvaluationRequest, 0).sent()
}

/** Positions in the body of a batch: the start and the end of its items, and the end of the body. */
export interface ItemsInBody {
  readonly from: number
  readonly to: number
  readonly end: number
}

/**
 * Returns a reader for the items of a batch, which includes inherited values. The inherited values are parsed
 * on first use, and only once.
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
