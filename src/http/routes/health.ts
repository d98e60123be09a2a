/**
 * Whether the process lives, whether it may be sent decisions, and whether it hears what other nodes change (contract A.7).
 * The last two differ while Redis is away: every node goes on deciding then. A balancer that took all nodes for not ready
 * would make an outage of it.
 */
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AuthzError } from '#model/errors.ts'
import { VERSION } from '#model/version.ts'
import { Health } from '#model/wire/health.ts'

export interface HealthSource {
  /** Whether this node makes decisions. */
  isReady(): boolean
  /** Whether this node hears what other nodes change. */
  isFresh(): boolean
  /** The reason why the last change could not be written; null: it could, or that is unknown. */
  writeRefusal(): string | null
}

export function healthRoutes(source: HealthSource): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/healthy',
      operationId: 'healthy',
      summary: 'Whether the process lives',
      family: 'native',
      access: 'public',
      isProbe: true,
      responses: { 200: { description: 'It does.', schema: Health } },
      handle: () => ({ status: 200, body: { status: 'healthy', version: VERSION } }),
    }),
    defineRoute({
      method: 'GET',
      path: '/ready',
      operationId: 'ready',
      summary: 'Whether decisions can be made here',
      family: 'native',
      access: 'public',
      isProbe: true,
      refusals: [503],
      responses: { 200: { description: 'Loaded and answering.', schema: Health } },
      handle: () => {
        if (!source.isReady())
          throw new AuthzError('NOT_READY', 'not ready: loading, too stale or shutting down')
        const refusal = source.writeRefusal()
        return { status: 200, body: { status: 'ready', ...(refusal !== null && { changes: refusal }) } }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/fresh',
      operationId: 'fresh',
      summary: 'Whether this node hears what other nodes change',
      family: 'native',
      access: 'public',
      isProbe: true,
      refusals: [503],
      responses: { 200: { description: 'It does, or there are no others.', schema: Health } },
      handle: () => {
        if (!source.isFresh()) {
          throw new AuthzError(
            'STALE',
            'stale: nothing was heard from the store, or of an environment in it, for a while; see /ready',
          )
        }
        return { status: 200, body: { status: 'fresh' } }
      },
    }),
  ]
}
