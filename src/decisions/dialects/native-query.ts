/** Converts the bodies of native decision requests to queries (native.md A.2). */
import type { Query } from '#model/decision.ts'
import type { AllowedQuery } from '#model/wire/decisions/decision.ts'
import { NativeQueryContext } from '#decisions/questions/request-attributes.ts'

/** `readAt` is the time at which the request was read, in milliseconds since 1970. */
export function queryOf(question: AllowedQuery, readAt: number): Query {
  return {
    user: question.user.key,
    action: question.action,
    type: question.resource.type,
    // Some clients send an empty key if they check the type as a whole.
    key: question.resource.key || null,
    tenant: question.resource.tenant ?? null,
    queryContext: new NativeQueryContext(question, readAt),
  }
}
