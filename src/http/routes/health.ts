/** Whether the process lives, and whether it may be sent traffic (contract A.7). */
import { AuthzError } from '#model/errors.ts'
import { Health } from '#model/wire/health.ts'
import { defineRoute, type Route } from '../route.ts'

export function healthRoutes(isReady: () => boolean): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/healthy',
      operationId: 'healthy',
      summary: 'Whether the process lives',
      family: 'native',
      access: 'public',
      responses: { 200: { description: 'It does.', schema: Health } },
      handle: () => ({ status: 200, body: { status: 'healthy' } }),
    }),
    defineRoute({
      method: 'GET',
      path: '/ready',
      operationId: 'ready',
      summary: 'Whether decisions can be made here',
      family: 'native',
      access: 'public',
      refusals: [503],
      responses: { 200: { description: 'Loaded and answering.', schema: Health } },
      handle: () => {
        if (!isReady()) throw new AuthzError('NOT_READY', 'not ready: loading, stale or shutting down')
        return { status: 200, body: { status: 'ready' } }
      },
    }),
  ]
}
