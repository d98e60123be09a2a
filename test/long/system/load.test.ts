/** `npm run load` against a real service: it prints results, and reports every wrong response. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  ADMIN_KEY,
  API_KEY,
  FACTS,
  type Client,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'
import { clientText } from '#testing/requests/client-busy.ts'

const LOAD = fileURLToPath(new URL('../../../bench/load/load.ts', import.meta.url))
const service = await sharedService({ adminApiKey: ADMIN_KEY })
/** Number of checks that the tool makes before the load. */
const ASKED_BEFORE = 64
const FEW = ['--amount', '100', '--connections', '4']

function start(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', LOAD, ...args], {
    env: { PATH: process.env['PATH'] },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function ended(child: ChildProcess) {
  const output = Promise.all([text(child.stdout!), text(child.stderr!)])
  const [code] = (await once(child, 'exit')) as [number]
  const [stdout, stderr] = await output
  return { code, stdout, stderr }
}

function load(address: string, ...args: readonly string[]) {
  return ended(start(['--url', address, '--key', API_KEY, ...FEW, ...args]))
}

/** Entities that a load test might leave in the service. */
async function left(client: Client) {
  const lists = [`${SCHEMA}/resources`, `${FACTS}/tenants`, `${FACTS}/users`, `${FACTS}/role_assignments`]
  const found = await Promise.all(lists.map(async path => (await client.get(path)).body))
  const projects = await client.admin('GET', '/v2/projects')
  return JSON.stringify([found, projects.body])
}

/** A proxy in front of the service. It replaces each response for which `tamper` does not return null. */
async function behind(
  tamper: (path: string, answer: string) => { readonly status: number; readonly body: string } | null,
): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then(async body => {
      const { method = '', url = '', headers } = request
      const passed = { authorization: headers.authorization!, 'content-type': 'application/json' }
      const answer = await fetch(service.address + url, { method, headers: passed, ...(body && { body }) })
      const answerBody = await answer.text()
      const tampered = tamper(url, answerBody) ?? { status: answer.status, body: answerBody }
      response.writeHead(tampered.status, { 'x-revision': answer.headers.get('x-revision') ?? '' })
      response.end(tampered.body)
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const flipped = (answer: string) => ({ status: 200, body: answer.replace('"allow":true', '"allow":false') })

describe('a load test of a correct service', () => {
  test('uses all modes, prints the tables of autocannon, and removes its model', async () => {
    const before = await left(service)
    const { code, stdout, stderr } = await load(service.address)
    expect([code, stderr]).toEqual([0, ''])
    const parts = stdout.split('\n## ').slice(1)
    expect(parts.map(part => part.split('\n')[0])).toEqual([
      'single decisions',
      'bulks of 100',
      'AuthZEN evaluations of 100',
      'single decisions, and one change in 16 requests',
    ])
    for (const part of parts) {
      for (const row of ['Latency', 'Req/Sec', 'Bytes/Sec']) expect(part).toContain(row)
      expect(part).toMatch(/│ 200\s+│ 100\s+│/)
      expect(part).toMatch(/^client: its thread was busy for \d+ % of the time/m)
    }
    expect(stdout).toMatch(/\nthe model is removed\n$/)
    expect(await left(service)).toBe(before)
  })

  test('creates a separate environment if the key may create environments', async () => {
    const before = await left(service)
    const args = ['--url', service.address, '--key', ADMIN_KEY, '--modes', 'mixed', ...FEW]
    const { code, stdout } = await ended(start(args))
    expect([code, stdout]).toEqual([0, expect.stringMatching(/│ 200\s+│ 100\s+│/)])
    expect(await left(service)).toBe(before)
  })

  test.each([
    ['before the load', 1],
    ['under load', ASKED_BEFORE + 1],
  ])('removes its model if it is stopped %s', async (_when, decisions) => {
    const before = await left(service)
    let child: ChildProcess | null = null
    let count = 0
    const address = await behind(path => {
      if (path === '/allowed') count += 1
      if (count === decisions) child?.kill('SIGINT')
      return null
    })
    child = start(['--url', address, '--key', API_KEY, '--duration', '600', '--connections', '1'])
    const { code, stdout } = await ended(child)
    expect(code).toBe(1)
    expect(stdout).toContain('the model is removed')
    expect(stdout.includes('Req/Sec')).toBe(decisions > ASKED_BEFORE)
    expect(await left(service)).toBe(before)
  })
})

describe('a load test with wrong responses', () => {
  test('reports a wrong decision before the load, and ends', async () => {
    const before = await left(service)
    const address = await behind((path, answer) => (path === '/allowed' ? flipped(answer) : null))
    const { code, stdout } = await load(address)
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^WRONG ANSWERS before the load: [1-9]\d*\n {2}POST \/allowed \{.*\n {4}200 .*"allow":false/m,
    )
    expect(stdout).not.toContain('Req/Sec')
    expect(await left(service)).toBe(before)
  })

  test.each([
    ['a wrong decision', 'single', '/allowed', '"allow":true', '"allow":false'],
    ['a wrong decision in a bulk', 'bulk', '/allowed/bulk', '"allow":true', '"allow":false'],
    [
      'a wrong decision in a batch',
      'evaluations',
      '/access/v1/evaluations',
      '"decision":false',
      '"decision":true',
    ],
    ['a bulk with one decision too many', 'bulk', '/allowed/bulk', /\]\}$/, ',{"allow":true}]}'],
    ['invalid JSON', 'single', '/allowed', '{', '['],
  ])('reports and counts %s under load', async (_what, mode, path, from, to) => {
    const asked = mode === 'single' ? ASKED_BEFORE : 8
    let count = 0
    const address = await behind((at, answer) => {
      const isAsked = at === path && answer.search(from) >= 0
      if (isAsked) count += 1
      // This check is part of the load, because the tool makes no further checks before the load.
      return isAsked && count === asked + 1 ? { status: 200, body: answer.replace(from, to) } : null
    })
    const { code, stdout } = await load(address, '--modes', mode)
    expect(code).toBe(1)
    expect(stdout).toContain('WRONG ANSWERS under load: 1\n')
    expect(stdout).toContain(`  POST ${path} {`.replace('{', path === '/allowed/bulk' ? '[' : '{'))
    expect(stdout).toContain('Req/Sec')
  })

  test('counts an unsuccessful response under load as wrong', async () => {
    let count = 0
    const address = await behind((path, answer) => {
      if (path === '/allowed') count += 1
      return path === '/allowed' && count === ASKED_BEFORE + 1 ? { status: 503, body: answer } : null
    })
    const { code, stdout } = await load(address, '--modes', 'single')
    expect([code, stdout]).toEqual([1, expect.stringContaining('WRONG ANSWERS under load: 1\n')])
    expect(stdout).toMatch(/│ 503\s+│ 1\s+│/)
  })
})

test.each([
  [0.894, false],
  [0.895, true],
  [1, true],
])(
  'a client that was busy for the share %d of the time is reported as the bottleneck: %s',
  (busy, isLimit) => {
    expect(clientText(busy, 1).includes('THE CLIENT WAS THE LIMIT')).toBe(isLimit)
  },
)

test.each([
  [['--connections', '0'], '--connections: expected an integer from 1 to 1000, got "0"'],
  [['--connections', '1001'], '--connections: expected an integer from 1 to 1000, got "1001"'],
  [['--duration', '3601'], '--duration: expected an integer from 1 to 3600'],
  [['--amount', '3', '--connections', '4'], '--amount: expected at least one for each of 4 connections'],
  [['--modes', 'single,double'], '--modes: expected some of single, bulk, evaluations, mixed, got double'],
  [['--url', 'nowhere'], '--url: "nowhere" is not an http or https URL'],
  [['--speed', 'high'], "Unknown option '--speed'"],
])('the load test rejects the arguments %j with exit code 2', async (args, message) => {
  const { code, stdout, stderr } = await ended(start(['--key', API_KEY, ...args]))
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
})

test('the load test reports a missing key, an unknown key, and an unreachable service', async () => {
  expect(await ended(start([]))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('VERDICT_KEY_FILE'),
  })
  const wrongKey = await ended(start(['--url', service.address, '--key', 'an-unknown-key']))
  expect(wrongKey).toMatchObject({ code: 1, stderr: expect.stringContaining('/v2/api-key/scope: 401') })
  const unreachable = await ended(start(['--url', 'http://127.0.0.1:9', '--key', API_KEY]))
  expect(unreachable).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be reached') })
})
