/**
 * Sends spans to a collector, as OTLP over HTTP, from the thread that made them. They wait in a bounded queue; what finds no room is
 * dropped and counted, so that no request waits for a collector and none is harmed by one that is away.
 *
 * Loaded only where tracing is on: it is some megabytes of objects in each thread.
 */
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ExportResult, ExportResultCode, parseKeyPairsIntoRecord } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { ThreadCounters } from './thread-counters.ts'
import { Tracing } from './tracing.ts'

/** Spans of a thread that wait or are on their way, some 2 kB each. */
export const QUEUED_SPANS_MAX = 2_048
/** Spans of one request to the collector. To write them as protobuf stops the thread, for some 0.4 ms. */
const BATCH_MAX = 128
/** Spans are on their way after so long, however few they are. */
const SEND_EVERY_MS = 1_000
/** How long the end of a thread waits for what is queued. */
const CLOSE_MS_MAX = 1_000

/** By the names that OpenTelemetry gives them. `share`: the part of the traces that is kept, above 0 and up to 1. */
const SAMPLERS = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: share => new TraceIdRatioBasedSampler(share),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: share => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
} as const satisfies Readonly<Record<string, (share: number) => Sampler>>

export interface SpanExportOptions {
  /** The collector's base URL; spans go to `v1/traces` below it. */
  readonly otlpEndpoint: string
  /** `name=value`, with commas between them; null: none. */
  readonly otlpHeaders: string | null
  readonly tracesSampler: keyof typeof SAMPLERS
  readonly tracesShare: number
  /** Of the service. */
  readonly version: string
  readonly counters: ThreadCounters | null
  /** The collector cannot be reached, or refuses. Called once until it takes spans again. */
  readonly onFault: (error: unknown) => void
}

/** Spans for one thread, sent to a collector. */
export function openTracing(options: SpanExportOptions): Tracing {
  const { tracesSampler, tracesShare, version } = options
  const provider = new TracerProvider({
    sampler: SAMPLERS[tracesSampler](tracesShare),
    spanProcessors: [new CountedSpans(options)],
    resource: resourceFromAttributes({
      'service.name': 'verdict',
      'service.version': version,
      'host.name': hostname(),
      'process.pid': process.pid,
    }).merge(detectResources({ detectors: [envDetector] })),
  })
  // What cannot be sent has been told of.
  const end = () => Promise.race([provider.shutdown().catch(() => {}), sleep(CLOSE_MS_MAX)])
  return new Tracing(provider.getTracer('verdict', version), end)
}

/** Counts what becomes of each span. The library's own bound leaves out what is on its way. */
class CountedSpans implements SpanProcessor {
  readonly #options: SpanExportOptions
  readonly #exporter: SpanExporter
  readonly #batches: BatchSpanProcessor
  #waiting = 0
  #isFaulty = false

  constructor(options: SpanExportOptions) {
    this.#options = options
    this.#exporter = new OTLPTraceExporter({
      url: `${options.otlpEndpoint.replace(/\/+$/, '')}/v1/traces`,
      headers: parseKeyPairsIntoRecord(options.otlpHeaders ?? undefined),
    })
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) => this.#send(spans, done),
        shutdown: () => this.#exporter.shutdown(),
      },
      maxQueueSize: QUEUED_SPANS_MAX,
      maxExportBatchSize: BATCH_MAX,
      scheduledDelayMillis: SEND_EVERY_MS,
    })
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= QUEUED_SPANS_MAX) {
      this.#options.counters?.add('spans', 1, 'dropped')
      return
    }
    this.#waiting += 1
    this.#batches.onEnd(span)
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush()
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown()
  }

  #send(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, result => {
      this.#waiting -= spans.length
      const isSent = result.code === ExportResultCode.SUCCESS
      this.#options.counters?.add('spans', spans.length, isSent ? 'sent' : 'failed')
      if (!isSent && !this.#isFaulty) this.#options.onFault(result.error)
      this.#isFaulty = !isSent
      done(result)
    })
  }
}
