/** Native decision bodies as questions (contract A.2). */
import type { Query } from '#model/decision.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'

export function queryOf(question: AllowedQuery): Query {
  return {
    user: question.user.key,
    action: question.action,
    type: question.resource.type,
    key: question.resource.key ?? null,
    tenant: question.resource.tenant ?? null,
  }
}
