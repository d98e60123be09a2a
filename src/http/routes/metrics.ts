/** The metrics of the process, for Prometheus. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import { RawJson } from '#http/message/request-reply.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { bearerToken } from '#model/bearer-token.ts'
import { AuthzError } from '#model/errors.ts'

export interface MetricsSource {
  /** The metrics of all threads, in the text format of Prometheus. `requestId` names the request. */
  scrape(requestId: string): Promise<string>
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** `token` is what a scraper must send as its bearer token; null: anybody may scrape. */
export function metricsRoute(source: MetricsSource, token: string | null): Route {
  return defineRoute({
    method: 'GET',
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Metrics in the text format of Prometheus; with `METRICS_TOKEN` set, for its bearer alone',
    family: 'native',
    access: 'public',
    isProbe: true,
    refusals: [401, 503],
    responses: { 200: { description: 'All there are.', schema: Type.String(), contentType: 'text/plain' } },
    handle: async ({ headers, names }) => {
      if (token !== null && !isSame(token, bearerToken(headers.get('authorization') ?? ''))) {
        throw new AuthzError('UNAUTHENTICATED', 'metrics need the token of METRICS_TOKEN')
      }
      return {
        status: 200,
        body: new RawJson(await source.scrape(names.requestId)),
        headers: { 'content-type': CONTENT_TYPE },
      }
    },
  })
}

/** Compares in a time that does not depend on where the two differ. */
function isSame(token: string, sent: string | null): boolean {
  return sent !== null && timingSafeEqual(digest(token), digest(sent))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
