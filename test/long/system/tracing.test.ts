/** Traces from a real process to a collector. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { FACTS, question, storeDirectory } from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { OtlpCollector, type ReceivedSpan } from '../../support/processes/otlp-collector.ts'
import { clientOf, startedProcess } from '../../support/processes/started-process.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const SAMPLED = `00-${TRACE}-${CALLER}-01`

function started(env: Readonly<Record<string, string>>, cwd?: string): ServiceProcess {
  return startedProcess({ STORE_URL: 'memory:', POOL_THREADS: '0', ...env }, { ...(cwd && { cwd }) })
}

async function ask(
  service: ServiceProcess,
  method: string,
  path: string,
  options: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<number> {
  return (await (await clientOf(service)).send(method, path, options)).status
}

const ALLOWED = { body: question('alice', 'read', 'document') }

/**
 * Runs a service until `asking` returns and the collector has `count` spans. Returns all spans that the
 * service has sent by its exit. At its exit, it sends spans for a limited time only.
 */
async function spansOf(
  count: number,
  asking: (service: ServiceProcess) => Promise<void>,
): Promise<readonly ReceivedSpan[]> {
  const collector = await OtlpCollector.start()
  const service = started({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.address })
  await asking(service)
  await collector.until(() => collector.spans.length >= count)
  expect(await service.end('SIGTERM')).toBe(0)
  return collector.spans
}

describe('spans of requests', () => {
  test('continue the trace of the caller, on HTTP threads and on the main thread', async () => {
    const spans = await spansOf(5, async service => {
      const headers = { traceparent: SAMPLED }
      await ask(service, 'POST', '/allowed', { ...ALLOWED, headers })
      await ask(service, 'POST', `${FACTS}/users`, { body: { key: 'alice' }, headers })
      await ask(service, 'POST', '/allowed', ALLOWED)
      await ask(service, 'POST', '/allowed', { ...ALLOWED, headers: { traceparent: 'nonsense' } })
    })
    const decisions = spans.filter(({ name }) => name === 'POST /allowed')
    const ofCaller = decisions.filter(({ traceId }) => traceId === TRACE)
    expect(ofCaller.map(({ parentSpanId }) => parentSpanId)).toEqual([CALLER])
    const own = decisions.filter(({ traceId }) => traceId !== TRACE)
    expect(own.map(({ parentSpanId }) => parentSpanId)).toEqual(['', ''])
    expect(new Set(own.map(({ traceId }) => traceId)).size).toBe(2)
    const change = spans.find(({ name }) => name === 'POST /v2/facts/{proj_id}/{env_id}/users')!
    expect(change).toMatchObject({ traceId: TRACE, parentSpanId: CALLER })
    const work = spans.find(({ name }) => name === 'createUser')!
    expect(work).toMatchObject({ traceId: TRACE, parentSpanId: change.spanId, kind: 1 })
    expect(spans).toHaveLength(5)
  })

  test('have the attributes that OpenTelemetry defines for HTTP servers', async () => {
    let port = 0
    const [decision, change, lost, strange, ...others] = await spansOf(4, async service => {
      port = Number(new URL(await service.address()).port)
      const headers = { 'user-agent': 'a client', 'x-forwarded-proto': 'https' }
      await ask(service, 'POST', '/allowed?user=secret', { ...ALLOWED, headers })
      await ask(service, 'GET', `${FACTS}/users/bob`, { headers })
      await ask(service, 'GET', `/nowhere/${'x'.repeat(1_000)}`, { headers })
      await ask(service, 'PROPFIND', '/allowed', { headers })
    }).then(spans => spans.filter(({ kind }) => kind === 2))
    const common = {
      'server.address': '127.0.0.1',
      'server.port': port,
      'url.scheme': 'https',
      'user_agent.original': 'a client',
    }
    expect(decision!.attributes).toEqual({
      ...common,
      'http.request.method': 'POST',
      'http.route': '/allowed',
      'http.response.status_code': 200,
      'url.path': '/allowed',
      'verdict.operation': 'isAllowed',
    })
    expect(decision!.resource).toMatchObject({
      'service.name': 'verdict',
      'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
      'host.name': expect.any(String),
    })
    // An error of the caller is not an error of the server.
    expect([change!.name, change!.status]).toEqual(['GET /v2/facts/{proj_id}/{env_id}/users/{user_id}', 0])
    expect(change!.attributes).toMatchObject({
      'url.path': `${FACTS}/users/bob`,
      'http.response.status_code': 404,
    })
    // Callers cannot choose names of spans, and long values are cut.
    expect([lost!.name, lost!.attributes['http.route']]).toEqual(['GET', undefined])
    expect(lost!.attributes['url.path']).toHaveLength(512)
    expect(strange).toMatchObject({
      name: 'HTTP',
      attributes: { 'http.request.method': '_OTHER', 'http.request.method_original': 'PROPFIND' },
    })
    expect(others).toEqual([])
  })

  test('do not exist for probes', async () => {
    const spans = await spansOf(1, async service => {
      for (const path of ['/healthy', '/ready', '/fresh', '/metrics']) {
        for (const method of ['GET', 'HEAD']) expect(await ask(service, method, path)).toBe(200)
      }
      await ask(service, 'GET', '/.well-known/authzen-configuration')
    })
    expect(spans.map(({ name }) => name)).toEqual(['GET /.well-known/authzen-configuration'])
  })
})

describe('export of spans', () => {
  test('uses the configured address, headers and resource attributes', async () => {
    const collector = await OtlpCollector.start()
    const service = started({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.address}/tenant/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token,x-scope=a=b',
      OTEL_SERVICE_NAME: 'ours',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
    })
    await ask(service, 'POST', '/allowed', ALLOWED)
    // The service keeps running.
    await collector.until(() => collector.spans.length > 0)
    const [{ url, headers }] = collector.arrivals as [(typeof collector.arrivals)[0]]
    expect([url, headers['content-type'], headers.authorization, headers['x-scope']]).toEqual([
      '/tenant/v1/traces',
      'application/x-protobuf',
      'Bearer token',
      'a=b',
    ])
    expect(collector.spans[0]!.resource).toMatchObject({
      'service.name': 'ours',
      'deployment.environment.name': 'staging',
    })
  })

  test('does not affect requests if the collector is unreachable', async () => {
    const service = started({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
      // Otherwise the exporter retries for ten seconds.
      OTEL_EXPORTER_OTLP_TIMEOUT: '50',
    })
    expect(await ask(service, 'POST', '/allowed', ALLOWED)).toBe(200)
    await service.logMatch(/"level":40,.*the collector at OTEL_EXPORTER_OTLP_ENDPOINT does not accept spans/)
    expect(await ask(service, 'POST', '/allowed', ALLOWED)).toBe(200)
    const scrape = await Scrape.of(await service.address())
    expect(scrape.sum('verdict_spans_total', { result: 'failed' })).toBe(1)
    expect(await service.end('SIGTERM')).toBe(0)
  })
})

test('the packages for spans are loaded only if a collector is configured', async () => {
  const loadedWith = async (env: Readonly<Record<string, string>>): Promise<string[]> => {
    const cwd = storeDirectory()
    const LOADED = join(cwd, 'loaded')
    const hook = new URL('../../support/loaded-packages.ts', import.meta.url).href
    const service = started({ LOADED, NODE_OPTIONS: `--import=${hook}`, ...env }, cwd)
    await ask(service, 'POST', '/allowed', ALLOWED)
    await ask(service, 'POST', `${FACTS}/users`, { body: { key: 'alice' } })
    await service.end('SIGTERM')
    const loaded = readFileSync(LOADED, 'utf8').split('\n')
    // Packages of the main thread and of HTTP threads prove that the list covers all threads.
    expect(loaded).toEqual(expect.arrayContaining(['lmdb', 'uWebSockets.js']))
    // The metrics library loads the API package, which contains no tracer.
    return loaded.filter(name => name.startsWith('@opentelemetry/') && name !== '@opentelemetry/api')
  }
  expect(await loadedWith({})).toEqual([])
  const { address } = await OtlpCollector.start()
  expect(await loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: address })).toContain('@opentelemetry/sdk-trace')
})
