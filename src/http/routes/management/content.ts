/**
 * Export and import of the whole content of an environment as lines of JSON, and export of its model as a
 * model file.
 */
import { REVISION } from '#http/message/header-fields.ts'
import { type Call, RawPieces, type Reply } from '#http/message/request-reply.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { Type } from 'typebox'
import type { PieceSource } from '#management/content/content-stream.ts'
import { assert } from '#model/assert.ts'
import {
  CONTENT_TYPE,
  ContentLine,
  ContentPath,
  ImportQuery,
  ImportResult,
} from '#model/wire/environment-content.ts'
import type { EnvironmentPath } from '#model/wire/environment.ts'
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
      summary: 'Everything in an environment at one moment, one thing a line, keys in place of ids',
      family: 'management',
      access: 'any-key',
      params: ContentPath,
      responses: {
        200: {
          description: 'The lines; the last one says that they are all.',
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
      summary: 'The model of an environment at one moment, as a model file in YAML',
      family: 'management',
      access: 'any-key',
      params: ContentPath,
      responses: {
        200: {
          description:
            'Resources, roles, condition sets and rules as `verdict apply` takes them, without facts. A comment counts what a model file has ' +
            'no place for.',
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
      summary: 'Puts what an export gave in place of what is in an environment, all or nothing',
      family: 'management',
      access: 'any-key',
      params: ContentPath,
      query: ImportQuery,
      bodyInPieces: {
        contentType: CONTENT_TYPE,
        description: 'Lines as an export has them, of any number.',
        schema: ContentLine,
      },
      responses: {
        200: {
          description: 'In force; the environment has a new id.',
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
  assert(pieces, 'an export comes in pieces')
  return {
    status: 200,
    body: await RawPieces.begun(pieces),
    headers: { 'content-type': contentType, 'x-revision': revision },
  }
}

/** A body without content. */
const NOTHING: PieceSource = { next: () => Promise.resolve(null), cancel: () => {} }

function contentRequest(
  call: Pick<Call<EnvironmentPath>, 'principal' | 'params' | 'names'>,
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
    path: { project: params.proj_id, environment: params.env_id },
    replaces,
  } as const
}
