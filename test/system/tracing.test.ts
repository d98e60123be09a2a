/**
 * Traces, with a real SDK in a real process: the caller's is gone on with, from the thread that answers to the one that
 * writes.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { API_KEY, question, storeDirectory } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

const SDK = new URL('../support/tracing-sdk.ts', import.meta.url).href
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'

interface Span {
  readonly name: string
  readonly kind: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly status: { readonly code: number }
  readonly parent?: { readonly traceId: string; readonly spanId: string }
  readonly own: { readonly traceId: string; readonly spanId: string }
}

async function spansOf(TRACING: string): Promise<Span[]> {
  const cwd = storeDirectory()
  const path = join(cwd, 'spans')
  const service = new ServiceProcess({
    cwd,
    env: {
      API_KEY,
      TRACING,
      STORE_URL: 'memory:',
      HTTP_THREADS: '1',
      SPANS: path,
      NODE_OPTIONS: `--import=${SDK}`,
    },
  })
  const address = await service.address()
  const call = async (method: string, to: string, body: unknown, traceparent?: string) => {
    const headers = { authorization: `Bearer ${API_KEY}`, ...(traceparent && { traceparent }) }
    const response = await fetch(address + to, { method, headers, body: JSON.stringify(body) })
    await response.arrayBuffer()
  }
  const traceparent = `00-${TRACE}-${CALLER}-01`
  await call('POST', '/allowed', question('alice', 'read', 'document'), traceparent)
  await call('POST', '/v2/facts/default/default/users', { key: 'alice' }, traceparent)
  await call('POST', '/allowed', question('alice', 'read', 'document'))
  await call('POST', '/nowhere', {}, 'nonsense')
  expect(await service.end('SIGTERM')).toBe(0)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Span)
}

test('a request goes on with the trace of its caller, and what the main thread does for it with its own', async () => {
  const spans = await spansOf('true')
  expect(spans.map(({ name }) => name).toSorted()).toEqual(
    ['POST', 'POST createUser', 'POST isAllowed', 'POST isAllowed', 'createUser'].toSorted(),
  )
  const [traced, fresh] = spans.filter(({ name }) => name === 'POST isAllowed')
  expect(traced).toMatchObject({
    kind: 1,
    parent: { traceId: TRACE, spanId: CALLER },
    own: { traceId: TRACE },
    attributes: {
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'verdict.operation': 'isAllowed',
    },
  })
  expect(fresh!.parent).toBe(undefined)
  expect(fresh!.own.traceId).not.toBe(TRACE)
  const request = spans.find(({ name }) => name === 'POST createUser')!
  expect(request.parent).toMatchObject({ traceId: TRACE, spanId: CALLER })
  const operation = spans.find(({ name }) => name === 'createUser')!
  expect(operation.parent).toMatchObject({ traceId: TRACE, spanId: request.own.spanId })
  const lost = spans.find(({ name }) => name === 'POST')!
  expect([lost.attributes['http.response.status_code'], lost.parent]).toEqual([404, undefined])
})

test('nothing is traced unless TRACING says so', async () => {
  expect(await spansOf('false')).toEqual([])
})
