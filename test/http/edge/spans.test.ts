/** Spans of one thread: sampling, status, export and the limit of queued spans. */
import { EventEmitter, once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { openTracing, QUEUED_SPANS_MAX, type SpanExportOptions } from '#telemetry/span-export.ts'
import { ThreadCounters } from '#telemetry/thread-counters.ts'
import type { Tracing } from '#telemetry/tracing.ts'
import { OtlpCollector } from '../../support/processes/otlp-collector.ts'

const ROUTE = { path: '/allowed', operationId: 'isAllowed' }
const CALLER = 'b7ad6b7169203331'
/** Two trace ids. Sampling depends on the id: a low ratio samples only LOW, a high ratio also HIGH. */
const [LOW, HIGH] = ['00000000000000000000000000000001', 'ffffffff000000000000000000000000']

async function tracing(options: Partial<SpanExportOptions> = {}) {
  const collector = await OtlpCollector.start()
  const counters = ThreadCounters.create([], 0)
  const faults: unknown[] = []
  const added = new EventEmitter()
  const add = counters.add.bind(counters)
  counters.add = (...counting: Parameters<typeof add>) => {
    add(...counting)
    added.emit('added')
  }
  const opened = openTracing({
    otlpEndpoint: collector.address,
    otlpHeaders: null,
    tracesSampler: 'parentbased_always_on',
    tracesShare: 1,
    version: '0.0.0',
    counters,
    onFault: error => faults.push(error),
    ...options,
  })
  const counted = () => {
    const metric = counters.metrics('http-1').find(({ name }) => name === 'verdict_spans_total')!
    return Object.fromEntries(metric.values.map(({ labels, value }) => [labels['result'], value]))
  }
  /** Resolves when `count` spans have this result. */
  const until = async (result: string, count: number): Promise<void> => {
    while (counted()[result] !== count) await once(added, 'added')
  }
  return { collector, tracing: opened, counted, until, faults }
}

/**
 * Resolves when the collector has `count` spans. A close waits for it for a limited time only, and the
 * process then continues to send.
 */
async function received(collector: OtlpCollector, count: number): Promise<void> {
  await collector.until(() => collector.spans.length >= count)
}

function trace(by: Tracing, path: string, { status = 200, traceparent = '' } = {}): void {
  const headers = new Map(traceparent === '' ? [] : [['traceparent', traceparent]])
  by.begin(ROUTE, { method: 'POST', path, headers }).end(status)
}

describe('the trace sampler', () => {
  test.each([
    ['parentbased_always_on', '/sampled /own'],
    ['parentbased_always_off', '/sampled'],
    ['always_on', '/sampled /not-sampled /own'],
    ['always_off', ''],
  ] as const)('%s traces the requests: %s', async (tracesSampler, traced) => {
    const { collector, tracing: by } = await tracing({ tracesSampler })
    trace(by, '/sampled', { traceparent: `00-${LOW}-${CALLER}-01` })
    trace(by, '/not-sampled', { traceparent: `00-${LOW}-${CALLER}-00` })
    trace(by, '/own')
    await by.close()
    await received(collector, traced.split(' ').filter(Boolean).length)
    expect(collector.spans.map(({ attributes }) => attributes['url.path']).join(' ')).toBe(traced)
  })

  test.each([
    ['traceidratio', [LOW]],
    // Samples only traces that the service starts. For other traces, it follows the client.
    ['parentbased_traceidratio', [LOW, HIGH]],
  ] as const)('%s keeps a share of the traces, the same on every node', async (tracesSampler, kept) => {
    const { collector, tracing: by } = await tracing({ tracesSampler, tracesShare: 0.5 })
    for (const id of [LOW, HIGH]) trace(by, '/allowed', { traceparent: `00-${id}-${CALLER}-01` })
    await by.close()
    await received(collector, kept.length)
    expect(collector.spans.map(({ traceId }) => traceId)).toEqual(kept)
  })

  test('parentbased_traceidratio keeps a share of the traces that the service starts', async () => {
    const options = { tracesSampler: 'parentbased_traceidratio', tracesShare: 0.5 } as const
    const { collector, tracing: by } = await tracing(options)
    for (let count = 0; count < 400; count += 1) trace(by, '/allowed')
    await by.close()
    await received(collector, 1)
    expect(collector.spans.length).toBeLessThan(400)
  })
})

test.each([
  [200, 0, undefined],
  [404, 0, undefined],
  [499, 0, undefined],
  [500, 2, '500'],
  [503, 2, '503'],
  // The client disconnected.
  [0, 2, 'aborted'],
])('a response with status %i has a span with status %i and error %s', async (status, ofSpan, error) => {
  const { collector, tracing: by } = await tracing()
  trace(by, '/allowed', { status })
  await by.close()
  await received(collector, 1)
  const [span] = collector.spans
  expect(span!.status).toBe(ofSpan)
  expect(span!.attributes['error.type']).toBe(error)
  expect(span!.attributes['http.response.status_code']).toBe(status === 0 ? undefined : status)
})

test('spans over the limit of queued and in-flight spans are dropped and counted', async () => {
  const { collector, tracing: by, counted, until } = await tracing()
  const release = collector.hold()
  for (let count = 0; count < QUEUED_SPANS_MAX; count += 1) trace(by, '/kept')
  expect(counted()).toEqual({ sent: 0, dropped: 0, failed: 0 })
  // Some spans left the queue and are in flight.
  await collector.until(() => collector.arrivals.length > 0)
  for (let count = 0; count < 3; count += 1) trace(by, '/dropped')
  expect(counted()).toEqual({ sent: 0, dropped: 3, failed: 0 })
  release()
  await until('sent', QUEUED_SPANS_MAX)
  // The queue has free capacity again.
  trace(by, '/kept')
  await collector.until(() => collector.spans.length > QUEUED_SPANS_MAX)
  expect(counted()).toMatchObject({ dropped: 3, failed: 0 })
  expect(new Set(collector.spans.map(({ attributes }) => attributes['url.path']))).toEqual(new Set(['/kept']))
})

test('a collector that rejects spans is reported only once until it accepts spans again', async () => {
  const { collector, tracing: by, until, faults } = await tracing()
  collector.status = 400
  // One export batch.
  const send = async (failed: number) => {
    for (let count = 0; count < 128; count += 1) trace(by, '/allowed')
    await until('failed', failed)
  }
  await send(128)
  await send(256)
  expect(faults).toHaveLength(1)
  collector.status = 200
  trace(by, '/allowed')
  await until('sent', 1)
  collector.status = 400
  await send(384)
  expect(faults).toHaveLength(2)
})

test('closing waits for an unresponsive collector for a limited time', async () => {
  const { collector, tracing: by, counted } = await tracing()
  collector.hold()
  trace(by, '/allowed')
  await by.close()
  await received(collector, 1)
  expect(collector.spans).toHaveLength(1)
  expect(counted()).toEqual({ sent: 0, dropped: 0, failed: 0 })
})
