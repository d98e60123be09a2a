/**
 * Sends spans to the configured collector. The code that creates and sends spans is loaded only if a
 * collector is configured.
 */
import type { ThreadSettings } from '#config/settings.ts'
import { VERSION } from '#model/version.ts'
import type { Logger } from '#telemetry/log.ts'
import type { openTracing } from '#telemetry/span-export.ts'
import type { ThreadCounters } from '#telemetry/thread-counters.ts'
import type { Tracing } from '#telemetry/tracing.ts'

/** The loaded code; null if no collector is configured. */
export type OpenTracing = typeof openTracing | null

/** Must be awaited before the thread handles any work, because it takes about 100 ms. */
export async function loadOpenTracing({ otlpEndpoint }: ThreadSettings): Promise<OpenTracing> {
  return otlpEndpoint === null ? null : (await import('#telemetry/span-export.ts')).openTracing
}

/** Tracing of a thread; null if no collector is configured. */
export function tracingOf(
  { otlpEndpoint, otlpHeaders, tracesSampler, tracesShare }: ThreadSettings,
  open: OpenTracing,
  { log, counters }: { readonly log: Logger; readonly counters: ThreadCounters | null },
): Tracing | null {
  if (otlpEndpoint === null || open === null) return null
  return open({
    otlpEndpoint,
    otlpHeaders,
    tracesSampler,
    tracesShare,
    version: VERSION,
    counters,
    onFault: error =>
      log.warn({ err: error }, 'the collector at OTEL_EXPORTER_OTLP_ENDPOINT does not accept spans'),
  })
}
