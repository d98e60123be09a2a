/** Spans of requests as the edge uses them: where they begin and end. The tracing library is plugged in. Probes have none. */
import type { Route } from '#http/routing/route.ts'
import type { RouteMatch } from '#http/routing/router.ts'

/** One request that is traced. */
export interface RequestSpan {
  /** The `traceparent` for work done on behalf of the request elsewhere. */
  readonly traceparent: string
  /** `status` 0: the caller had left before there was an answer. */
  end(status: number): void
}

export interface RequestTracing {
  /** Continues the trace that the headers name, or begins one. `route` is null where there is none. */
  begin(
    route: Route | null,
    request: {
      readonly method: string
      readonly path: string
      readonly headers: ReadonlyMap<string, string>
    },
  ): RequestSpan
}

/** Told of defects of the tracing library, which reach neither the HTTP library nor the caller. */
interface TracedBy {
  readonly tracing: RequestTracing | null
  report(error: unknown, requestId: string): void
}

interface Named {
  readonly requestId: string
}

/** Null where nothing is traced, of a probe, or where the span could not be begun. Without closures, which would be made for each request. */
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
