/** Where spans go: to the collector of the settings. What makes and sends them is loaded only where there is one. */
import type { ThreadSettings } from '#config/config.ts'
import { VERSION } from '#model/version.ts'
import type { Logger } from '#telemetry/log.ts'
import type { openTracing } from '#telemetry/span-export.ts'
import type { ThreadCounters } from '#telemetry/thread-counters.ts'
import type { Tracing } from '#telemetry/tracing.ts'

/** What was loaded; null: nothing, since there is no collector. */
export type OpenTracing = typeof openTracing | null

/** To be awaited before anything is at work in the thread: it takes some 100 ms. */
export async function loadOpenTracing({ otlpEndpoint }: ThreadSettings): Promise<OpenTracing> {
  return otlpEndpoint === null ? null : (await import('#telemetry/span-export.ts')).openTracing
}

/** Null: there is no collector. */
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
    onFault: error => log.warn({ err: error }, 'the collector of OTEL_EXPORTER_OTLP_ENDPOINT takes no spans'),
  })
}
