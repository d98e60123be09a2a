/** `/allowed/plan`: a filter for the database of the caller (filter.md). */
import type { MadePlan, PlanService } from '#decisions/plan-service.ts'
import { REQUIRED_REQUEST_ID } from '#http/message/header-fields.ts'
import type { AnswersOfParts } from '#http/routing/large-answers.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { PlanQuery, PlanResult } from '#model/wire/decisions/plan.ts'
import { presentForm } from './older-questions.ts'

const TIME_MAX = Date.UTC(10_000, 0) - 1

export function planRoute(plans: PlanService, answers: AnswersOfParts): Route {
  return defineRoute({
    method: 'POST',
    path: '/allowed/plan',
    operationId: 'planAccess',
    level: 'decide',
    summary: 'Compute a filter for the rows of your database on which a user can perform an action',
    family: 'plan',
    access: 'environment',
    headers: [REQUIRED_REQUEST_ID],
    body: PlanQuery,
    presentForm,
    isRead: true,
    responses: { 200: { description: 'The complete filter. It is never truncated.', schema: PlanResult } },
    refusals: [422],
    handle: async ({ principal, body, caller }) => {
      const environmentId = environmentOf(principal)
      return answers.reply(environmentId, jsonOf(await plans.plan(environmentId, body, caller)))
    },
  })
}

/** The filter is not copied to a text, because it can have several mebibytes. */
function jsonOf({ kind, filter, ids, revision, asOf, expiresAt }: MadePlan): Uint8Array[] {
  const rest = {
    ids,
    revision,
    as_of: timeOf(asOf),
    expires_at: expiresAt === null ? null : timeOf(expiresAt),
  }
  const end = Buffer.from(`,${JSON.stringify(rest).slice(1)}`)
  if (filter === null) return [Buffer.from(`{"kind":"${kind}"`), end]
  return [Buffer.from(`{"kind":"${kind}","filter":`), filter, end]
}

/** An RFC 3339 time has a year of four digits. An earlier expiration time is always permitted. */
function timeOf(ms: number): string {
  return new Date(Math.min(ms, TIME_MAX)).toISOString()
}
