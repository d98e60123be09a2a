/** A real HAProxy that compresses responses: a client behind it changes what it has read. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { API_KEY, SCHEMA, sharedService } from '#testing/processes/running-service.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.tenantRole('reviewer', ['document:read'])

/** Compresses the responses of the service, after the inner `rule` has changed them. Returns its address when it answers. */
async function startProxy(rule = ''): Promise<string> {
  const [port, innerPort] = [await freePort(), await freePort()]
  const directory = mkdtempSync(join(tmpdir(), 'verdict-proxy-'))
  const configuration = join(directory, 'haproxy.cfg')
  writeFileSync(
    configuration,
    `defaults
  mode http
  timeout connect 30s
  timeout client 30s
  timeout server 30s
frontend all
  bind 127.0.0.1:${port}
  filter compression
  compression algo gzip
  default_backend inner
backend inner
  server inner 127.0.0.1:${innerPort}
frontend inner
  bind 127.0.0.1:${innerPort}
  ${rule}
  default_backend verdict
backend verdict
  server one ${new URL(verdict.address).host}
`,
  )
  const proxy = spawn('haproxy', ['-db', '-f', configuration], { stdio: 'ignore' })
  const ended = once(proxy, 'exit')
  onTestFinished(async () => {
    proxy.kill('SIGKILL')
    await ended
    rmSync(directory, { recursive: true })
  })
  const address = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${address}/healthy`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) expect(proxy.exitCode).toBeNull()
  return address
}

async function send(address: string, method: string, headers: Record<string, string>, body?: unknown) {
  const response = await fetch(`${address}${SCHEMA}/roles/reviewer`, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  await response.arrayBuffer()
  const { status, headers: answered } = response
  return { status, tag: answered.get('etag'), encoding: answered.get('content-encoding') }
}

const lacksProxy = spawnSync('haproxy', ['-v']).error !== undefined

describe.skipIf(lacksProxy)('behind a proxy that compresses (skipped without haproxy)', () => {
  test('an answer with a tag is left as it is, and its tag is good for a change', async () => {
    const address = await startProxy()
    const read = await send(address, 'GET', {})
    expect(read).toEqual({ status: 200, tag: expect.stringMatching(/^"[\w-]+"$/), encoding: null })
    const changed = await send(address, 'PATCH', { 'if-match': read.tag! }, { description: 'one' })
    expect(changed).toEqual({ status: 200, tag: expect.stringMatching(/^"[\w-]+"$/), encoding: null })
  })

  test('a weakened tag is good for a change if the proxy ignores no-transform', async () => {
    const address = await startProxy('http-response del-header cache-control')
    const read = await send(address, 'GET', {})
    expect(read).toEqual({ status: 200, tag: expect.stringMatching(/^W\/"[\w-]+"$/), encoding: 'gzip' })
    const changed = await send(address, 'PATCH', { 'if-match': read.tag! }, { description: 'two' })
    expect(changed.status).toBe(200)
    const stale = await send(address, 'PATCH', { 'if-match': read.tag! }, { description: 'three' })
    expect(stale).toMatchObject({ status: 412, tag: changed.tag!.replace('W/', '') })
  })
})
