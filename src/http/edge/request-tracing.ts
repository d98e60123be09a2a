/**
 * Interface between requests and the tracing library, which is loaded separately. Starts and ends the span of
 * each request. Probes have no spans.
 */
import type { Route } from '#http/routing/route.ts'
import type { RouteMatch } from '#http/routing/router.ts'

/** The span of one request. */
export interface RequestSpan {
  /** `traceparent` for work that is done elsewhere for the request. */
  readonly traceparent: string
  /** `status` 0: the client disconnected before the response. */
  end(status: number): void
}

export interface RequestTracing {
  /** Continues the trace in the headers, or starts one. `route` is null if no route matches. */
  begin(
    route: Route | null,
    request: {
      readonly method: string
      readonly path: string
      readonly headers: ReadonlyMap<string, string>
    },
  ): RequestSpan
}

/** Receives defects of the tracing library. They affect neither the HTTP library nor the client. */
interface TracedBy {
  readonly tracing: RequestTracing | null
  report(error: unknown, requestId: string): void
}

interface Named {
  readonly requestId: string
}

/**
 * Starts the span of a request. Null if tracing is disabled, for a probe, or if starting failed. Uses no
 * closures, which would be allocated for each request.
 */
export function beginSpan(
  by: TracedBy,
  match: RouteMatch | null,
  head: Parameters<RequestTracing['begin']>[1],
  names: Named,
): RequestSpan | null {
  try {
    const route = match === null ? null : match.route
    return by.tracing === null || route?.isProbe ? null : by.tracing.begin(route, head)
  } catch (error) {
    by.report(error, names.requestId)
    return null
  }
}

export function endSpan(by: TracedBy, span: RequestSpan, status: number, names: Named): void {
  try {
    span.end(status)
  } catch (error) {
    by.report(error, names.requestId)
  }
}
