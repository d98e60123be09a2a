/**
 * The nodes of this deployment and the recent activity of the node that responds, for the pages of operators.
 *
 * Any key can read the list of nodes. The list contains only data about processes and about the environment
 * of the key. The activity covers all environments. Therefore, if `METRICS_TOKEN` is set, keys of projects
 * and environments cannot read it. `/metrics` then also requires the token.
 */
import { RawJson } from '#http/message/request-reply.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import type { NodeSource } from '#decisions/questions/node-question.ts'
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
      level: 'read',
      summary: 'List the running nodes of this deployment',
      family: 'management',
      access: 'any-key',
      responses: { 200: { description: 'The nodes that this node knows.', schema: NodeList } },
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
      level: 'read',
      summary:
        'Read the activity of this node in the last 15 minutes; if `METRICS_TOKEN` is set, only with API keys of the organization',
      family: 'management',
      access: 'any-key',
      refusals: [403],
      responses: { 200: { description: 'One sample per five seconds.', schema: RecentFigures } },
      handle: async ({ principal, names: { requestId } }) => {
        if (hasMetricsToken && principal?.kind !== 'organization') {
          throw new AuthzError(
            'FORBIDDEN',
            'metrics are restricted (METRICS_TOKEN): this request needs an API key of the organization',
          )
        }
        const by = { requestId, operation: 'getRecentFigures' }
        return { status: 200, body: new RawJson(await source.ask({ about: 'recent' }, by)) }
      },
    }),
  ]
}
