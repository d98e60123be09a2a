/**
 * Spans through the OpenTelemetry API. It does nothing by itself: the operator brings an SDK, which registers itself in every
 * thread (`docs/operations.md`). The trace of the caller is taken over from `traceparent` and `tracestate`, whatever
 * propagator the SDK registers.
 */
import {
  type Context,
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'

const NAME = 'verdict'

type Headers = ReadonlyMap<string, string>

const FROM_HEADERS = {
  get: (headers: Headers, name: string) => headers.get(name),
  keys: (headers: Headers) => [...headers.keys()],
}

export class Tracing {
  readonly #propagator = new W3CTraceContextPropagator()

  /** The span of a request; see `RequestTracing`. */
  begin(
    operation: string | null,
    { method, headers }: { readonly method: string; readonly headers: Headers },
  ) {
    const from = this.#propagator.extract(ROOT_CONTEXT, headers, FROM_HEADERS)
    const name = operation === null ? method : `${method} ${operation}`
    const attributes = { 'http.request.method': method, ...(operation && { 'verdict.operation': operation }) }
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, from)
    return {
      traceparent: this.#traceparentOf(trace.setSpan(from, span)),
      end: (status: number): void => {
        if (status > 0) span.setAttribute('http.response.status_code', status)
        if (status === 0 || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      },
    }
  }

  /** Runs a part of the work of a request under a span of its own. */
  async within<Result>(
    operation: string,
    traceparent: string | null,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const headers = new Map(traceparent === null ? [] : [['traceparent', traceparent]])
    const from = this.#propagator.extract(ROOT_CONTEXT, headers, FROM_HEADERS)
    const span = this.#tracer.startSpan(operation, { kind: SpanKind.INTERNAL }, from)
    try {
      return await context.with(trace.setSpan(from, span), work)
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR })
      throw error
    } finally {
      span.end()
    }
  }

  /** Asked for each time: an SDK may register itself late. */
  get #tracer(): Tracer {
    return trace.getTracer(NAME)
  }

  #traceparentOf(of: Context): string {
    const carrier: Record<string, string> = {}
    this.#propagator.inject(of, carrier, { set: (to, key, value) => (to[key] = value) })
    return carrier['traceparent'] ?? ''
  }
}
