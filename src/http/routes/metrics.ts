/** Metrics of the process for Prometheus. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import type { NodeSource } from '#decisions/questions/node-question.ts'
import { RawJson } from '#http/message/request-reply.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { bearerToken } from '#model/bearer-token.ts'
import { AuthzError } from '#model/errors.ts'

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** `token`: bearer token that a Prometheus server must send. If null, no token is needed. */
export function metricsRoute(source: NodeSource, token: string | null): Route {
  return defineRoute({
    method: 'GET',
    path: '/metrics',
    operationId: 'getMetrics',
    summary:
      'Read the metrics in the text format of Prometheus; if `METRICS_TOKEN` is set, requests need that token',
    family: 'native',
    access: 'public',
    isProbe: true,
    refusals: [401, 503],
    responses: { 200: { description: 'All metrics.', schema: Type.String(), contentType: 'text/plain' } },
    handle: async ({ headers, names }) => {
      if (token !== null && !isSame(token, bearerToken(headers.get('authorization') ?? ''))) {
        throw new AuthzError('UNAUTHENTICATED', 'requests for metrics need the token in METRICS_TOKEN')
      }
      const by = { requestId: names.requestId, operation: 'getMetrics' }
      return {
        status: 200,
        body: new RawJson(await source.ask({ about: 'metrics' }, by)),
        headers: { 'content-type': CONTENT_TYPE },
      }
    },
  })
}

/** Compares the tokens in constant time, so that the duration reveals nothing about the correct token. */
function isSame(token: string, sent: string | null): boolean {
  return sent !== null && timingSafeEqual(digest(token), digest(sent))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
