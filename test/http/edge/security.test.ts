/** Attacks that no other file tries: what docs/threat-model.md refers to beside the tests of the parts themselves. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  API_KEY,
  FACTS,
  neighbourOf,
  question,
  sharedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()

test('guessing a key tells nothing: near misses, lengths and spellings are all the same answer', async () => {
  const guesses = [
    API_KEY.slice(0, -1),
    `${API_KEY}x`,
    API_KEY.slice(0, -1) + (API_KEY.endsWith('a') ? 'b' : 'a'),
    API_KEY.toUpperCase(),
    'x',
    randomBytes(32).toString('hex'),
    'é'.repeat(40),
    'k'.repeat(3_000),
  ]
  const answers = await Promise.all(
    guesses.map(guess =>
      verdict.send('POST', '/allowed', {
        key: Buffer.from(guess).toString('latin1'),
        body: question('alice', 'read', 'document'),
      }),
    ),
  )
  const told = answers.map(({ status, body, headers }) => {
    const { date: _date, 'x-request-id': _id, ...rest } = Object.fromEntries(headers)
    return JSON.stringify({ status, body, rest })
  })
  expect(answers[0]!.status).toBe(401)
  expect(new Set(told).size).toBe(1)
  expect(told[0]).not.toContain(guesses[0])
})

test('keys are never in the log or in metrics, and no line of the log can be forged by what a request calls itself', async () => {
  const service = new ServiceProcess({
    cwd: storeDirectory(),
    env: { API_KEY, STORE_URL: 'memory:', HTTP_THREADS: '1', LOG_LEVEL: 'debug', SLOW_REQUEST_MS: '1' },
  })
  const address = await service.address()
  const forged = 'x"}{"level":60,"msg":"forged\\n'
  const body = JSON.stringify(Array(10_000).fill(question('eve\n{"level":60}', 'read', 'document')))
  for (const key of [API_KEY, 'a-guess-of-somebody']) {
    const headers = { authorization: `Bearer ${key}`, 'x-request-id': forged }
    await fetch(`${address}/allowed/bulk`, { method: 'POST', headers, body })
  }
  const metrics = await (await fetch(`${address}/metrics`)).text()
  expect(await service.end('SIGTERM')).toBe(0)
  for (const text of [service.stderr, metrics]) {
    expect(text).not.toContain(API_KEY)
    expect(text).not.toContain('a-guess-of-somebody')
  }
  const lines = service.stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)
  expect(lines.filter(({ level }) => level === 60)).toEqual([])
  expect(lines.find(({ msg, status }) => msg === 'slow request' && status === 200)).toMatchObject({
    requestId: forged,
    operation: 'isAllowedBulk',
    level: 40,
    elapsedMs: expect.any(Number),
  })
})

describe('names that mean something to JavaScript', () => {
  const text =
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":null,"a":{"__proto__":[{"b":2}]}}'

  test('are attributes like any others: kept as they were sent, and they change nothing else', async () => {
    const write = async (path: string, fields: string) => {
      const answer = await verdict.send('POST', path, { text: `{${fields},"attributes":${text}}` })
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    }
    await write(`${FACTS}/users`, '"key":"mallory"')
    await write(`${FACTS}/tenants`, '"key":"evil","name":"Evil"')
    await write(`${FACTS}/resource_instances`, '"resource":"document","key":"bad","tenant":"evil"')
    for (const path of ['users/mallory', 'tenants/evil', 'resource_instances/document:bad']) {
      const response = await fetch(`${verdict.address}${FACTS}/${path}`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      })
      expect(await response.text()).toContain(`"attributes":${text}`)
    }
    // The thread that writes is this one.
    expect(({} as Record<string, unknown>)['polluted']).toBe(undefined)
    await verdict.user('innocent')
    const { body } = await verdict.get<{ attributes: object }>(`${FACTS}/users/innocent`)
    expect(body.attributes).toEqual({})
  })
})

test('slashes and colons in a path are parts of a key when they are encoded, and lead nowhere else', async () => {
  const neighbour = await neighbourOf(verdict, 'next-door')
  await verdict.instance('document:a/b:c')
  await verdict.instance('document:a')
  const read = (path: string, key = API_KEY) => verdict.send<{ key: string }>('GET', FACTS + path, { key })
  for (const spelling of ['document:a%2Fb%3Ac', 'document%3Aa%2Fb:c', 'document:a%2fb:c']) {
    const answer = await read(`/resource_instances/${spelling}`)
    expect([spelling, answer.status, answer.body.key]).toEqual([spelling, 200, 'a/b:c'])
  }
  expect((await read('/resource_instances/document:a')).body.key).toBe('a')
  for (const spelling of [
    '/resource_instances/document:a/b:c',
    '/users/..%2F..%2Fnext-door%2Fusers',
    '/users/%2e%2e',
    '/resource_instances/document%253Aa',
  ]) {
    expect([spelling, (await read(spelling)).status]).toEqual([spelling, 404])
  }
  // By way of our own environment into another one.
  const { status } = await read('/..%2Fnext-door/users', neighbour)
  expect([403, 404]).toContain(status)
})
