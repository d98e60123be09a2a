/** AuthZEN metadata document (authzen.md 7). */
import { CACHE_CONTROL } from '#http/message/header-fields.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AuthzError } from '#model/errors.ts'
import { Metadata } from '#model/wire/decisions/access.ts'

const WELL_KNOWN = '/.well-known/authzen-configuration'

/**
 * `publicUrl` is returned unchanged. If it is null, the URL is derived from the request. Proxies and clients
 * can manipulate a request, so this is only a fallback. If the base URL has a path, the document is also
 * available under the well-known prefix followed by this path.
 */
export function metadataRoutes(publicUrl: string | null): Route[] {
  const basePath = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
  const paths = new Set([WELL_KNOWN, WELL_KNOWN + basePath])
  return Array.from(paths, (path, index) =>
    defineRoute({
      method: 'GET',
      path,
      operationId: index === 0 ? 'authzenMetadata' : 'authzenMetadataOfPath',
      summary: 'Read the AuthZEN metadata: the endpoints',
      family: 'access',
      access: 'optional-key',
      responses: { 200: { description: 'The endpoints.', schema: Metadata, headers: [CACHE_CONTROL] } },
      handle: ({ headers }) => ({
        status: 200,
        headers: { 'cache-control': 'max-age=3600' },
        body: metadataOf(publicUrl ?? baseFromHost(headers.get('host'))),
      }),
    }),
  )
}

function metadataOf(base: string) {
  const access = `${base.replace(/\/$/, '')}/access/v1`
  return {
    policy_decision_point: base,
    access_evaluation_endpoint: `${access}/evaluation`,
    access_evaluations_endpoint: `${access}/evaluations`,
    search_subject_endpoint: `${access}/search/subject`,
    search_resource_endpoint: `${access}/search/resource`,
    search_action_endpoint: `${access}/search/action`,
  }
}

function baseFromHost(host: string | undefined): string {
  if (host === undefined || !/^[A-Za-z0-9.\-:[\]]+$/.test(host)) {
    throw new AuthzError('MALFORMED_REQUEST', 'this request needs a Host header')
  }
  return `http://${host}`
}
