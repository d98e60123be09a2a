/** Converts the bodies of native decision requests to queries (native.md A.2). */
import { BEFORE_RULES, type Query } from '#model/decision.ts'
import type { AllowedQuery } from '#model/wire/decisions/decision.ts'
import { NativeQueryContext } from '#decisions/questions/request-attributes.ts'

/**
 * `readAt` is the time at which the request arrived, if conditions might need it (`DecisionService.readAt`).
 * If it is null, the query consists only of keys and names.
 */
export function queryOf(question: AllowedQuery, readAt: number | null): Query {
  return {
    user: question.user.key,
    action: question.action,
    type: question.resource.type,
    // Some clients send an empty key if they check the type as a whole.
    key: question.resource.key || null,
    tenant: question.resource.tenant ?? null,
    ...(readAt === null ? BEFORE_RULES : { queryContext: new NativeQueryContext(question, readAt) }),
  }
}
