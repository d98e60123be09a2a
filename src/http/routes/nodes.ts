/**
 * The nodes of this deployment, and the recent activity of the responding node, for pages that operators use.
 *
 * The list is available to any key. It contains only data about processes and about the environment of the
 * key. The activity covers all environments. If `METRICS_TOKEN` is set, `/metrics` requires it, and the
 * activity is not available to keys of projects and environments.
 */
import { RawJson } from '#http/message/request-reply.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import type { NodeSource } from '#decisions/node-question.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { NodeList, RecentFigures } from '#model/wire/node.ts'

const NODES = '/v2/nodes'

/** `hasMetricsToken`: whether metrics require a token. */
export function nodeRoutes(
  source: NodeSource,
  { hasMetricsToken }: { readonly hasMetricsToken: boolean },
): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: NODES,
      operationId: 'getNodes',
      summary: 'List the nodes of this deployment that live',
      family: 'management',
      access: 'any-key',
      responses: { 200: { description: 'Those that are known here.', schema: NodeList } },
      handle: async ({ principal, names: { requestId } }) => {
        assert(principal, 'a route for any key has a caller')
        const environmentId = principal.kind === 'environment' ? principal.environmentId : null
        const by = { requestId, operation: 'getNodes' }
        return { status: 200, body: new RawJson(await source.ask({ about: 'nodes', environmentId }, by)) }
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${NODES}/this/recent`,
      operationId: 'getRecentFigures',
      summary:
        'What the node that answers did in the last 15 minutes; with `METRICS_TOKEN` set, for keys of the organization alone',
      family: 'management',
      access: 'any-key',
      refusals: [403],
      responses: { 200: { description: 'A sample every five seconds.', schema: RecentFigures } },
      handle: async ({ principal, names: { requestId } }) => {
        if (hasMetricsToken && principal?.kind !== 'organization') {
          throw new AuthzError(
            'FORBIDDEN',
            'metrics are not for everybody here (METRICS_TOKEN): this needs a key of the organization',
          )
        }
        const by = { requestId, operation: 'getRecentFigures' }
        return { status: 200, body: new RawJson(await source.ask({ about: 'recent' }, by)) }
      },
    }),
  ]
}
