/**
 * Spans of requests and of the work for them, in OpenTelemetry's conventions for HTTP servers. The trace of the caller is gone on with,
 * by `traceparent` and `tracestate`. Where spans go is the tracer's own affair (`span-export.ts`).
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
  /** The template: `/v2/facts/{proj_id}/{env_id}/users`. */
  readonly path: string
  readonly operationId: string
}

/** Methods that may be in the name of a span. Of others there is no end: a caller may invent them. */
const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'])
/** Characters of a text from a caller. */
const TEXT_MAX = 512
/** A name, or an address of IPv6 in brackets, and a port. */
const HOST = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/

const FROM_HEADERS = {
  get: (headers: Headers, name: string) => headers.get(name),
  keys: (headers: Headers) => [...headers.keys()],
}

export class Tracing {
  readonly #propagator = new W3CTraceContextPropagator()
  readonly #tracer: Tracer
  readonly #end: () => Promise<void>

  /** `end` sends what is left and resolves in bounded time. */
  constructor(tracer: Tracer, end: () => Promise<void>) {
    this.#tracer = tracer
    this.#end = end
  }

  /** The span of a request; see `RequestTracing`. */
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
      return await work()
    } catch (error) {
      fail(span, error instanceof Error && 'code' in error ? String(error.code) : '_OTHER')
      throw error
    } finally {
      span.end()
    }
  }

  /** Sends what is left; takes no more. */
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
 * Without the query, where attributes of users stand. The sampler may look at them, and there is one before the answer: so all that is
 * known of a request is told at its beginning.
 */
function attributesOf(route: TracedRoute | null, { method, path, headers }: TracedRequest): Attributes {
  const attributes: Attributes = {
    'http.request.method': METHODS.has(method) ? method : '_OTHER',
    'url.path': kept(path),
    // What the caller sees; a proxy may have taken TLS away.
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

/** `status` 0: the caller had left before there was an answer. What a caller did wrong (4xx) is no error of the server. */
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

/** A part of a text would keep all of it in memory: it is made anew. */
function kept(text: string): string {
  return text.length <= TEXT_MAX ? text : Buffer.from(text.slice(0, TEXT_MAX)).toString()
}
