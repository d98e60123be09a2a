/**
 * Spans of requests and of the work for them. They follow the semantic conventions of OpenTelemetry for HTTP
 * servers, and continue the trace of the client (`traceparent` and `tracestate`). The tracer determines the
 * collector that receives the spans (`span-export.ts`).
 */
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'

type Headers = ReadonlyMap<string, string>

export interface TracedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Headers
}

export interface TracedRoute {
  /** Template of the path, for example `/v2/facts/{proj_id}/{env_id}/users`. */
  readonly path: string
  readonly operationId: string
}

/**
 * Methods that can be part of the name of a span. Other methods are excluded, because clients can invent any
 * number of them.
 */
const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'])
/** Maximum length in characters of a text that a client sent. */
const TEXT_MAX = 512
/** Matches a host name or an IPv6 address in brackets, with an optional port. */
const HOST = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/

const FROM_HEADERS = {
  get: (headers: Headers, name: string) => headers.get(name),
  keys: (headers: Headers) => [...headers.keys()],
}

export class Tracing {
  readonly #propagator = new W3CTraceContextPropagator()
  readonly #tracer: Tracer
  readonly #end: () => Promise<void>

  /** `end` sends the remaining spans. It resolves after a limited time. */
  constructor(tracer: Tracer, end: () => Promise<void>) {
    this.#tracer = tracer
    this.#end = end
  }

  /** Starts the span of a request; see `RequestTracing`. */
  begin(route: TracedRoute | null, request: TracedRequest) {
    const from = this.#propagator.extract(ROOT_CONTEXT, request.headers, FROM_HEADERS)
    const attributes = attributesOf(route, request)
    const method = METHODS.has(request.method) ? request.method : 'HTTP'
    const name = route === null ? method : `${method} ${route.path}`
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, from)
    const traceparentOf = (): string => this.#traceparentOf(trace.setSpan(from, span))
    return {
      get traceparent() {
        return traceparentOf()
      },
      end: (status: number): void => endWith(span, status),
    }
  }

  /** Runs a part of the work for a request under its own span. */
  async within<Result>(
    operation: string,
    traceparent: string | null,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const headers = new Map(traceparent === null ? [] : [['traceparent', traceparent]])
    const from = this.#propagator.extract(ROOT_CONTEXT, headers, FROM_HEADERS)
    const span = this.#tracer.startSpan(operation, { kind: SpanKind.INTERNAL }, from)
    try {
      return await work()
    } catch (error) {
      fail(span, error instanceof Error && 'code' in error ? String(error.code) : '_OTHER')
      throw error
    } finally {
      span.end()
    }
  }

  /** Sends the remaining spans and accepts no new ones. */
  close(): Promise<void> {
    return this.#end()
  }

  #traceparentOf(of: Context): string {
    const carrier: Record<string, string> = {}
    this.#propagator.inject(of, carrier, { set: (to, key, value) => (to[key] = value) })
    return carrier['traceparent'] ?? ''
  }
}

/**
 * Returns the attributes of the span of a request. The query is not included, because it can contain
 * attributes of users. All attributes are set when the span starts, because the sampler decides at that time.
 */
function attributesOf(route: TracedRoute | null, { method, path, headers }: TracedRequest): Attributes {
  const attributes: Attributes = {
    'http.request.method': METHODS.has(method) ? method : '_OTHER',
    'url.path': kept(path),
    // Scheme that the client used. The header is read because a proxy might have terminated TLS.
    'url.scheme': headers.get('x-forwarded-proto') === 'https' ? 'https' : 'http',
  }
  if (!METHODS.has(method)) attributes['http.request.method_original'] = kept(method)
  if (route !== null) {
    attributes['http.route'] = route.path
    attributes['verdict.operation'] = route.operationId
  }
  const [, address6, address = address6, port] = HOST.exec(headers.get('host') ?? '') ?? []
  if (address) attributes['server.address'] = kept(address)
  if (port !== undefined) attributes['server.port'] = Number(port)
  const agent = headers.get('user-agent')
  if (agent !== undefined) attributes['user_agent.original'] = kept(agent)
  return attributes
}

/**
 * Ends the span. `status` is 0 if the client disconnected before the response. A client error (4xx) does not
 * mark the span as failed.
 */
function endWith(span: Span, status: number): void {
  if (status > 0) span.setAttribute('http.response.status_code', status)
  if (status >= 500) fail(span, String(status))
  else if (status === 0) fail(span, 'aborted')
  span.end()
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** Truncates a text. A truncated text is copied, because a slice would keep the whole text in memory. */
function kept(text: string): string {
  return text.length <= TEXT_MAX ? text : Buffer.from(text.slice(0, TEXT_MAX)).toString()
}
