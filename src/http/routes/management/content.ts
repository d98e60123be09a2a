/**
 * Export and import of the whole content of an environment as lines of JSON. Export of the model of an
 * environment as a model file.
 */
import { Type } from 'typebox'
import { REVISION } from '#http/message/header-fields.ts'
import { type Call, RawPieces, type Reply } from '#http/message/request-reply.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { assert } from '#model/assert.ts'
import {
  CONTENT_TYPE,
  ContentLine,
  ContentPath,
  ImportQuery,
  ImportResult,
} from '#entities/environment-content.ts'
import type { EnvironmentPath } from '#model/wire/organization/environment.ts'
import { type ManagementGateway, plainNames, rawJson, SCHEMA_BASE } from './managed.ts'

/** Media type of YAML (RFC 9512). */
const MODEL_TYPE = 'application/yaml'
const ENVIRONMENT = '/v2/projects/{proj_id}/envs/{env_id}'

export function contentRoutes(gateway: ManagementGateway): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${ENVIRONMENT}/export`,
      operationId: 'exportContent',
      level: 'read',
      summary: 'Export a snapshot of an environment, one entity per line, with keys instead of ids',
      family: 'management',
      access: 'any-key',
      params: ContentPath,
      responses: {
        200: {
          description: 'Lines of JSON, one per entity. The last line marks the end.',
          schema: ContentLine,
          contentType: CONTENT_TYPE,
          headers: [REVISION],
        },
      },
      handle: (call: Call<EnvironmentPath>) => exported(gateway, call, 'exportContent', CONTENT_TYPE),
    }),
    defineRoute({
      method: 'GET',
      path: `${SCHEMA_BASE}/model`,
      operationId: 'exportModel',
      level: 'read',
      summary: 'Export the model of an environment as a model file in YAML',
      family: 'management',
      access: 'any-key',
      params: ContentPath,
      responses: {
        200: {
          description:
            'Resources, roles, condition sets and rules for `verdict apply`, without facts. A comment counts the entities that a model file ' +
            'cannot contain.',
          schema: Type.String(),
          contentType: MODEL_TYPE,
          headers: [REVISION],
        },
      },
      handle: (call: Call<EnvironmentPath>) =>
        exported(gateway, call, 'exportModel', `${MODEL_TYPE}; charset=utf-8`),
    }),
    defineRoute({
      method: 'POST',
      path: `${ENVIRONMENT}/import`,
      operationId: 'importContent',
      level: 'admin',
      summary: 'Replace the content of an environment with an export, atomically',
      family: 'management',
      access: 'any-key',
      params: ContentPath,
      query: ImportQuery,
      bodyInPieces: {
        contentType: CONTENT_TYPE,
        description: 'Any number of lines in the format of an export.',
        schema: ContentLine,
      },
      responses: {
        200: {
          description: 'The content is in effect. The environment has a new id.',
          schema: ImportResult,
          headers: [REVISION],
        },
      },
      handle: async (call: Call<EnvironmentPath, ImportQuery, unknown>) => {
        const request = contentRequest(call, 'importContent', call.query.replace ?? false)
        const body = (call.body as PieceSource | undefined) ?? NOTHING
        const by = { caller: call.caller, isRead: false, body }
        const { json, revision } = await gateway.execute(request, by)
        return { status: 200, body: rawJson(json ?? ''), headers: { 'x-revision': revision } }
      },
    }),
  ]
}

async function exported(
  gateway: ManagementGateway,
  call: Call<EnvironmentPath>,
  operation: 'exportContent' | 'exportModel',
  contentType: string,
): Promise<Reply> {
  const by = { caller: call.caller, isRead: true }
  const { pieces, revision } = await gateway.execute(contentRequest(call, operation, false), by)
  assert(pieces, 'an export is sent in pieces')
  return {
    status: 200,
    body: await RawPieces.begun(pieces),
    headers: { 'content-type': contentType, 'x-revision': revision },
  }
}

/** Source of an empty body. */
const NOTHING: PieceSource = { next: () => Promise.resolve(null), cancel: () => {} }

function contentRequest(
  call: Pick<Call<EnvironmentPath>, 'principal' | 'params' | 'names' | 'claim'>,
  operation: 'exportContent' | 'exportModel' | 'importContent',
  replaces: boolean,
) {
  const { principal, params } = call
  assert(principal, 'a management route has a caller')
  return {
    about: 'content',
    operation,
    principal,
    ...plainNames(call.names),
    claim: call.claim,
    path: { project: params.proj_id, environment: params.env_id },
    replaces,
  } as const
}
