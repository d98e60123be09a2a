/**
 * Sends spans to a collector as OTLP over HTTP, from the thread that created them. A queue of limited size
 * holds the spans. Spans that do not fit are dropped and counted. Requests therefore never wait for a
 * collector, even if it is unavailable.
 *
 * This module is loaded only if tracing is enabled, because the libraries take several megabytes of heap per
 * thread.
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

/** Maximum number of spans per thread that are queued or being sent. A span takes about 2 kB. */
export const QUEUED_SPANS_MAX = 2_048
/**
 * Maximum number of spans per request to the collector. The encoding of this number of spans as protobuf
 * blocks the thread for about 0.4 ms.
 */
const BATCH_MAX = 128
/** Interval in milliseconds at which queued spans are sent, even if there are only a few spans. */
const SEND_EVERY_MS = 1_000
/** Maximum time in milliseconds for which the shutdown of a thread waits for queued spans. */
const CLOSE_MS_MAX = 1_000

/**
 * Samplers by their names in OpenTelemetry. `share`: share of the traces that are kept, greater than 0 and at
 * most 1.
 */
const SAMPLERS = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: share => new TraceIdRatioBasedSampler(share),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: share => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
} as const satisfies Readonly<Record<string, (share: number) => Sampler>>

export interface SpanExportOptions {
  /** Base URL of the collector. Spans are sent to the path `v1/traces` below this URL. */
  readonly otlpEndpoint: string
  /** Request headers in the form `name=value`, separated by commas. Null if there are none. */
  readonly otlpHeaders: string | null
  readonly tracesSampler: keyof typeof SAMPLERS
  readonly tracesShare: number
  /** Version of the service. */
  readonly version: string
  readonly counters: ThreadCounters | null
  /**
   * Called if the collector cannot be reached or rejects spans. After that, the function is not called again
   * until the collector has accepted spans.
   */
  readonly onFault: (error: unknown) => void
}

/** Starts the tracing of one thread. Its spans are sent to a collector. */
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
  // The error is ignored, because failures to send spans have already been reported.
  const end = () => Promise.race([provider.shutdown().catch(() => {}), sleep(CLOSE_MS_MAX)])
  return new Tracing(provider.getTracer('verdict', version), end)
}

/**
 * Counts the spans that are sent and dropped. This class enforces the limit of spans itself, because the
 * limit of the library does not include spans that are being sent.
 */
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
