/** What a question says beside its keys and terms, read from its text, which was checked (`http/bytes`). */
import type { SentAttributes } from '#model/decision.ts'
import { parsedJson } from '#model/json-numbers.ts'
import { SENT_ATTRIBUTES_BYTES_MAX } from '#model/limits.ts'
import type { EvaluationRequest, EvaluationsRequest } from '#model/wire/access.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'
import { attributesOf } from './access-defaults.ts'
import { AccessCircumstances, NativeCircumstances } from './sent-attributes.ts'

/** A text of JSON has at most so many times the bytes as `JSON.stringify` writes it: `1e20` has one digit for each of its powers. */
const REWRITTEN_FACTOR = 6
/** No text of a question up to so many bytes says too many attributes. */
export const SENT_TEXT_BYTES_MAX = Math.floor(SENT_ATTRIBUTES_BYTES_MAX / REWRITTEN_FACTOR)

/** Reads what the question says whose text stands in the body. Throws `LIMIT_EXCEEDED` for too many attributes. */
export type SaidReader = (text: string, body: Buffer) => SentAttributes

export function nativeSent(text: string): SentAttributes {
  return new NativeCircumstances(parsedJson(text) as AllowedQuery, 0).sent()
}

export function accessSent(text: string): SentAttributes {
  return new AccessCircumstances(parsedJson(text) as EvaluationRequest, 0).sent()
}

/** Where the items of a batch stand in its body, and where the body ends. */
export interface ItemsInBody {
  readonly from: number
  readonly to: number
  readonly end: number
}

/** Reads what items of a batch say, or inherit. What they inherit is parsed once, when it is first asked for. */
export function itemsSent(items: ItemsInBody): SaidReader {
  let batch: EvaluationsRequest | null = null
  return (text, body) => {
    batch ??= withoutItems(body, items)
    return new AccessCircumstances(attributesOf(parsedJson(text), batch), 0).sent()
  }
}

function withoutItems(body: Buffer, { from, to, end }: ItemsInBody): EvaluationsRequest {
  const [before, behind] = [body.toString('utf8', 0, from), body.toString('utf8', to, end)]
  return parsedJson(`${before}null${behind}`) as EvaluationsRequest
}
