/** Native decision bodies as questions (native.md A.2). */
import { BEFORE_RULES, type Query } from '#model/decision.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'
import { NativeCircumstances } from './sent-attributes.ts'

/** `readAt`: when the request was read, where conditions may ask for it (`DecisionService.readAt`); null: its texts are all that counts. */
export function queryOf(question: AllowedQuery, readAt: number | null): Query {
  return {
    user: question.user.key,
    action: question.action,
    type: question.resource.type,
    // Some clients send an empty key for the question about the type.
    key: question.resource.key || null,
    tenant: question.resource.tenant ?? null,
    ...(readAt === null ? BEFORE_RULES : { circumstances: new NativeCircumstances(question, readAt) }),
  }
}
