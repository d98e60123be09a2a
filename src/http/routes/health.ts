/**
 * Health endpoints (native.md A.7). They report three states: the process runs, the node can make decisions,
 * and the node receives changes of other nodes. The last two states are separate because of failures of
 * Redis, during which all nodes continue to make decisions. If a load balancer then considered the nodes not
 * ready, the whole service would be unavailable.
 */
import { defineRoute, type Route } from '#http/routing/route.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { VERSION } from '#model/version.ts'
import { Health } from '#model/wire/health.ts'

export interface HealthSource {
  /** Whether this node makes decisions. */
  isReady(): boolean
  /** Whether this node receives changes of other nodes. */
  isFresh(): boolean
  /** Reason why the last change could not be written. Null if it was written, or if the result is unknown. */
  writeRefusal(): string | null
}

export function healthRoutes(source: HealthSource): Route[] {
  const probes = probeRoutes(source)
  return [...probes, ...CONTAINER_PROBES.map(([path, standsFor]) => aliasOf(probes, path, standsFor))]
}

/** Health paths in the container of the commercial service, each with the equivalent path of this service. */
const CONTAINER_PROBES = [
  ['/healthchecks/opa/healthy', '/healthy'],
  ['/healthchecks/opa/ready', '/ready'],
  ['/healthchecks/opa/system', '/ready'],
] as const

function aliasOf(probes: readonly Route[], path: string, standsFor: string): Route {
  const probe = probes.find(route => route.path === standsFor)
  assert(probe, `there is a probe ${standsFor}`)
  return { ...probe, path, standsFor, isDescribed: false }
}

function probeRoutes(source: HealthSource): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/healthy',
      operationId: 'healthy',
      summary: 'Check whether the process runs',
      family: 'native',
      access: 'public',
      isProbe: true,
      responses: { 200: { description: 'The process runs.', schema: Health } },
      handle: () => ({ status: 200, body: { status: 'healthy', version: VERSION } }),
    }),
    defineRoute({
      method: 'GET',
      path: '/ready',
      operationId: 'ready',
      summary: 'Check whether this node can make decisions',
      family: 'native',
      access: 'public',
      isProbe: true,
      refusals: [503],
      responses: { 200: { description: 'The node makes decisions.', schema: Health } },
      handle: () => {
        if (!source.isReady())
          throw new AuthzError(
            'NOT_READY',
            'the service is not ready: it is loading, its data is too stale, or it is shutting down; retry later',
          )
        const refusal = source.writeRefusal()
        return { status: 200, body: { status: 'ready', ...(refusal !== null && { changes: refusal }) } }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/fresh',
      operationId: 'fresh',
      summary: 'Check whether this node receives the changes of other nodes',
      family: 'native',
      access: 'public',
      isProbe: true,
      refusals: [503],
      responses: {
        200: {
          description: 'The node receives the changes of other nodes, or there are no other nodes.',
          schema: Health,
        },
      },
      handle: () => {
        if (!source.isFresh()) {
          throw new AuthzError(
            'STALE',
            'stale: no news from the store, or of an environment in it, within STALE_AFTER_MS; see /ready',
          )
        }
        return { status: 200, body: { status: 'fresh' } }
      },
    }),
  ]
}
