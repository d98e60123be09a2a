/**
 * Endpoints of the second port (native.md A.7), for clients that call a policy engine directly. They provide
 * the decisions of `/allowed`, `/allowed/bulk` and `/allowed/all-tenants`, and the list of
 * `/user-permissions`. The paths and formats are those of an Open Policy Agent that runs the policy of the
 * original service.
 *
 * The main port does not have these endpoints. `STRICT_HEADERS` has no effect on them, because the protocol
 * defines no headers.
 */
import type { DecisionService } from '#decisions/decision-service.ts'
import { queryOf } from '#decisions/dialects/native-query.ts'
import type { PermissionService } from '#decisions/permission-service.ts'
import type { TenantService } from '#decisions/tenant-service.ts'
import { PrebuiltReply } from '#http/message/answer.ts'
import type { Reply } from '#http/message/request-reply.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import type { AnswersOfParts } from '#http/routing/large-answers.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { TextQuestion } from '#model/question.ts'
import { OpaBulkQuery, OpaBulkResult, OpaQuery, OpaResult } from '#model/wire/decisions/decision.ts'
import { OpaPackage, OpaPermissions, OpaPermissionsQuery } from '#model/wire/decisions/permissions.ts'
import { OpaAllowedTenants } from '#model/wire/decisions/tenant-lists.ts'
import { opaBulkAnswer, replyWith } from './bulk-answer.ts'
import { prebuiltResponse } from './prebuilt-response.ts'

/** Responses to a deny (index 0) and to an allow (index 1). */
const ANSWERS = [false, true].map(allow => new PrebuiltReply(200, { result: { allow } }))

/**
 * Bytes that are written before and after a list. The bytes of the list itself are those of the ordinary
 * response.
 */
const RESULT = [Buffer.from('{"result":'), Buffer.from('}')] as const
const PACKAGE = [Buffer.from('{"result":{"permissions":'), Buffer.from('}}')] as const

export interface OpaSources {
  readonly decisions: DecisionService
  readonly permissions: PermissionService
  readonly tenants: TenantService
  readonly answers: AnswersOfParts
}

export function opaRoutes({ decisions, permissions, tenants, answers }: OpaSources): Route[] {
  const within = (
    [before, behind]: readonly [Uint8Array, Uint8Array],
    environmentId: string,
    listed: Uint8Array | Promise<Uint8Array>,
  ): Reply | Promise<Reply> => {
    const reply = (json: Uint8Array) => answers.reply(environmentId, [before, json, behind])
    return listed instanceof Promise ? listed.then(reply) : reply(listed)
  }
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/data/permit/user_permissions',
      operationId: 'getUserPermissionsPackageOpa',
      level: 'decide',
      summary: 'List the permissions of a user in their package, for clients of Open Policy Agent',
      family: 'opa',
      access: 'environment',
      body: OpaPermissionsQuery,
      responses: { 200: { description: 'The complete result. It is never truncated.', schema: OpaPackage } },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const listed = permissions.permissionsOf(environmentId, body.input, null, caller)
        return within(PACKAGE, environmentId, listed)
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/data/permit/user_permissions/permissions',
      operationId: 'getUserPermissionsOpa',
      level: 'decide',
      summary: 'List the permissions of a user by tenant and instance, for clients of Open Policy Agent',
      family: 'opa',
      access: 'environment',
      body: OpaPermissionsQuery,
      responses: {
        200: { description: 'The complete result. It is never truncated.', schema: OpaPermissions },
      },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const listed = permissions.permissionsOf(environmentId, body.input, null, caller)
        return within(RESULT, environmentId, listed)
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/data/permit/root',
      operationId: 'isAllowedOpa',
      level: 'decide',
      summary: 'Check whether a user can perform an action on a resource, for clients of Open Policy Agent',
      family: 'opa',
      access: 'environment',
      body: OpaQuery,
      responses: { 200: { description: 'The decision: allow or deny.', schema: OpaResult } },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const question = TextQuestion.single(queryOf(body.input, decisions.now()))
        return prebuiltResponse(ANSWERS, decisions.evaluate(environmentId, question, caller))
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/data/permit/bulk',
      operationId: 'isAllowedBulkOpa',
      level: 'decide',
      summary: 'Make many checks, with results in order, for clients of Open Policy Agent',
      family: 'opa',
      access: 'environment',
      body: OpaBulkQuery,
      responses: { 200: { description: 'One result for each check, in order.', schema: OpaBulkResult } },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const readAt = decisions.now()
        const question = new TextQuestion(body.input.map(asked => queryOf(asked, readAt)))
        return replyWith(decisions.evaluate(environmentId, question, caller), opaBulkAnswer)
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/data/permit/all_tenants',
      operationId: 'getAllowedTenantsOpa',
      level: 'decide',
      summary: 'List the tenants in which a user can perform an action, for clients of Open Policy Agent',
      family: 'opa',
      access: 'environment',
      body: OpaQuery,
      responses: {
        200: { description: 'The complete result. It is never truncated.', schema: OpaAllowedTenants },
      },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const query = queryOf(body.input, decisions.now())
        return within(RESULT, environmentId, tenants.allowed(environmentId, query, caller))
      },
    }),
  ]
}
