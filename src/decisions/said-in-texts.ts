/** What a question says beside its keys and terms, read from its text, which was checked (`http/bytes`). */
import type { SentAttributes } from '#model/decision.ts'
import { SENT_ATTRIBUTES_BYTES_MAX } from '#model/limits.ts'
import type { EvaluationRequest, EvaluationsRequest } from '#model/wire/access.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'
import { attributesOf } from './access-defaults.ts'
import { AccessCircumstances, NativeCircumstances } from './sent-attributes.ts'

/** A text of JSON has at most so many times the bytes as `JSON.stringify` writes it: `1e20` has one digit for each of its powers. */
const REWRITTEN_FACTOR = 6
/** No text of a question up to so many bytes says too many attributes. */
export const SENT_TEXT_BYTES_MAX = Math.floor(SENT_ATTRIBUTES_BYTES_MAX / REWRITTEN_FACTOR)

/** What a native question says, of its text, which was checked. Throws as `NativeCircumstances.sent`. */
export function nativeSent(text: string): SentAttributes {
  return new NativeCircumstances(JSON.parse(text) as AllowedQuery, 0).sent()
}

/** The same of an AuthZEN evaluation. */
export function accessSent(text: string): SentAttributes {
  return new AccessCircumstances(JSON.parse(text) as EvaluationRequest, 0).sent()
}

/** The same of an item of a batch. */
export function itemSent(item: unknown, batch: EvaluationsRequest): SentAttributes {
  return new AccessCircumstances(attributesOf(item, batch), 0).sent()
}
