/** Converts native decision bodies to queries (native.md A.2). */
import { BEFORE_RULES, type Query } from '#model/decision.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'
import { NativeQueryContext } from './request-attributes.ts'

/**
 * `readAt`: time at which the request was read, if conditions can read it (`DecisionService.readAt`). With
 * null, only the keys and names of the query are used.
 */
export function queryOf(question: AllowedQuery, readAt: number | null): Query {
  return {
    user: question.user.key,
    action: question.action,
    type: question.resource.type,
    // Some clients send an empty key for a check of the whole type.
    key: question.resource.key || null,
    tenant: question.resource.tenant ?? null,
    ...(readAt === null ? BEFORE_RULES : { queryContext: new NativeQueryContext(question, readAt) }),
  }
}
