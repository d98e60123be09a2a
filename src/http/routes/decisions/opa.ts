/**
 * What the second listener answers (contract A.7): the decision of `/allowed` and the list of `/user-permissions`, under the
 * paths and in the form in which an Open Policy Agent with the original's policy gives them. Clients that ask their policy engine
 * directly come here.
 *
 * Not on the main port, and no header is required with `STRICT_HEADERS`: the protocol knows none.
 */
import type { DecisionService } from '#decisions/decision-service.ts'
import { queryOf } from '#decisions/native-query.ts'
import type { PermissionService } from '#decisions/permission-service.ts'
import type { Reply } from '#http/message/request-reply.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import type { AnswersOfParts } from '#http/routing/large-answers.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { OpaQuery, OpaResult } from '#model/wire/decision.ts'
import { OpaPermissions, OpaPermissionsQuery } from '#model/wire/permissions.ts'

const answer = (allow: boolean): Reply => ({ status: 200, body: { result: { allow } } })
const BEFORE = Buffer.from('{"result":')
const BEHIND = Buffer.from('}')

export function opaRoutes(
  decisions: DecisionService,
  permissions: PermissionService,
  answers: AnswersOfParts,
): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/data/permit/user_permissions/permissions',
      operationId: 'getUserPermissionsOpa',
      summary: 'What a user may do, by tenant and instance. Asked as of an Open Policy Agent',
      family: 'opa',
      access: 'environment',
      body: OpaPermissionsQuery,
      responses: { 200: { description: 'All of it; never a part.', schema: OpaPermissions } },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const reply = (json: Uint8Array) => answers.reply(environmentId, [BEFORE, json, BEHIND])
        const listed = permissions.permissionsOf(environmentId, body.input, null, caller)
        return listed instanceof Promise ? listed.then(reply) : reply(listed)
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/data/permit/root',
      operationId: 'isAllowedOpa',
      summary: 'May this user do this on that resource? Asked as of an Open Policy Agent',
      family: 'opa',
      access: 'environment',
      body: OpaQuery,
      responses: { 200: { description: 'The decision; a deny is one too.', schema: OpaResult } },
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        const query = queryOf(body.input, decisions.readAt(environmentId))
        const decided = decisions.evaluate(environmentId, query, caller)
        return decided instanceof Promise ? decided.then(answer) : answer(decided)
      },
    }),
  ]
}
