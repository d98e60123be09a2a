/** Attacks from docs/threat-model.md that no other file tests. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
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

test('all invalid keys get the same response, including keys that are similar to a valid one', async () => {
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
  const texts = answers.map(({ status, body, headers }) => {
    const { date: _date, 'x-request-id': _id, ...rest } = Object.fromEntries(headers)
    return JSON.stringify({ status, body, rest })
  })
  expect(answers[0]!.status).toBe(401)
  expect(new Set(texts).size).toBe(1)
  expect(texts[0]).not.toContain(guesses[0])
})

test('logs and metrics never contain keys, and a request id cannot forge a log line', async () => {
  const service = new ServiceProcess({
    cwd: storeDirectory(),
    env: { API_KEY, STORE_URL: 'memory:', HTTP_THREADS: '1', LOG_LEVEL: 'debug', SLOW_REQUEST_MS: '1' },
  })
  const address = await service.address()
  const forged = 'x"}{"level":60,"msg":"forged\\n'
  const body = JSON.stringify(Array(10_000).fill(question('eve\n{"level":60}', 'read', 'document')))
  for (const key of [API_KEY, 'a-guessed-key']) {
    const headers = { authorization: `Bearer ${key}`, 'x-request-id': forged }
    await fetch(`${address}/allowed/bulk`, { method: 'POST', headers, body })
  }
  const metrics = await (await fetch(`${address}/metrics`)).text()
  expect(await service.end('SIGTERM')).toBe(0)
  for (const text of [service.stderr, metrics]) {
    expect(text).not.toContain(API_KEY)
    expect(text).not.toContain('a-guessed-key')
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

test('attributes with names that are special in JavaScript are stored unchanged and pollute no prototype', async () => {
  const text =
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":null,"a":{"__proto__":[{"b":2}]}}'
  const write = async (path: string, fields: string) => {
    const answer = await verdict.send('POST', path, { text: `{${fields},"attributes":${text}}` })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  }
  await write(`${FACTS}/users`, '"key":"mallory"')
  await write(`${FACTS}/tenants`, '"key":"evil","name":"Evil"')
  await write(`${FACTS}/resource_instances`, '"resource":"document","key":"bad","tenant":"evil"')
  const headers = { authorization: `Bearer ${API_KEY}` }
  for (const path of ['users/mallory', 'tenants/evil', 'resource_instances/document:bad']) {
    const response = await fetch(`${verdict.address}${FACTS}/${path}`, { headers })
    expect(await response.text()).toContain(`"attributes":${text}`)
  }
  // The writer runs in this thread.
  expect(({} as Record<string, unknown>)['polluted']).toBe(undefined)
  await verdict.user('innocent')
  const { body } = await verdict.get<{ attributes: object }>(`${FACTS}/users/innocent`)
  expect(body.attributes).toEqual({})
})

test('encoded slashes and colons in a path are part of a key and never lead to another entity', async () => {
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
  // A traversal from one environment into another one.
  const { status } = await read('/..%2Fnext-door/users', neighbour)
  expect([403, 404]).toContain(status)
})
