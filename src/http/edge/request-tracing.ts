/**
 * Interface to the tracing library, which is loaded separately. Starts and ends the span of each request.
 * Requests of health probes have no spans.
 */
import type { Route } from '#http/routing/route.ts'
import type { RouteMatch } from '#http/routing/router.ts'

/** The span of one request. */
export interface RequestSpan {
  /** Value of `traceparent` to send with work that another component does for this request. */
  readonly traceparent: string
  /** Ends the span. `status` is 0 if the client disconnected before the response. */
  end(status: number): void
}

export interface RequestTracing {
  /**
   * Starts a span that continues the trace in the request headers. If the headers contain no trace, the span
   * starts a new one. `route` is null if no route matches.
   */
  begin(
    route: Route | null,
    request: {
      readonly method: string
      readonly path: string
      readonly headers: ReadonlyMap<string, string>
    },
  ): RequestSpan
}

/**
 * Settings for tracing, and the receiver of defects in the tracing library. These defects must not affect the
 * HTTP library or the client.
 */
interface TracedBy {
  readonly tracing: RequestTracing | null
  report(error: unknown, requestId: string): void
}

interface Named {
  readonly requestId: string
}

/**
 * Starts the span of a request. Returns null if tracing is disabled, if the request is a probe, or if
 * starting the span failed. This function contains no closures, because they would be allocated for each
 * request.
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
