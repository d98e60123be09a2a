/** The headers of a request, in a list that is used for one request after another. */
import { expect, test } from 'vitest'
import { HeaderList } from '#http/header-list.ts'

test('a list that was cleared has nothing of the headers before, however it is asked', () => {
  const headers = new HeaderList()
  for (const name of ['authorization', 'content-length', 'x-tenant', 'traceparent'])
    headers.add(name, 'before')
  headers.add('content-length', 'again')
  expect([headers.size, headers.framingFault]).toEqual([4, expect.stringContaining('once')])
  headers.clear()
  expect([headers.size, headers.framingFault, [...headers]]).toEqual([0, null, []])
  headers.add('host', 'now')
  expect([...headers.entries()]).toEqual([['host', 'now']])
  expect([[...headers.keys()], [...headers.values()]]).toEqual([['host'], ['now']])
  const visited: string[] = []
  headers.forEach((value, name) => visited.push(`${name}: ${value}`))
  expect(visited).toEqual(['host: now'])
  expect([headers.get('authorization'), headers.has('x-tenant')]).toEqual([undefined, false])
})

test('of a repeated header the first counts', () => {
  const headers = new HeaderList()
  headers.add('x-tenant', 'first')
  headers.add('x-tenant', 'second')
  expect([headers.get('x-tenant'), [...headers]]).toEqual(['first', [['x-tenant', 'first']]])
})

test('names of one length are told apart', () => {
  const headers = new HeaderList()
  headers.add('content-type', 'a type')
  headers.add('x-min-revision', 'a revision')
  expect(
    ['x-request-id', 'content-type', 'content-length', 'x-min-revision'].map(name => headers.get(name)),
  ).toEqual([undefined, 'a type', undefined, 'a revision'])
})

test('those that every decision asks for are found by name, in order, and the first of each counts', () => {
  const headers = new HeaderList()
  const names = ['authorization', 'x-request-id', 'x-min-revision', 'content-length', 'transfer-encoding']
  // As long as one of them each.
  const others = ['accept-tokens', 'x-request-at', 'x-min-revisian', 'content-langth', 'transfer-encodinh']
  const sent = names.flatMap((name, index) => [others[index]!, name])
  for (const round of ['first', 'second']) for (const name of sent) headers.add(name, `${round} ${name}`)
  const { authorization, requestId, minRevision, contentLength } = headers
  expect([authorization, requestId, minRevision, contentLength]).toEqual(
    names.slice(0, 4).map(name => `first ${name}`),
  )
  expect([...headers]).toEqual(sent.map(name => [name, `first ${name}`]))
  expect(sent.map(name => headers.get(name))).toEqual(sent.map(name => `first ${name}`))
  headers.clear()
  for (const name of others) headers.add(name, 'another')
  expect([headers.authorization, headers.requestId, headers.minRevision, headers.contentLength]).toEqual(
    Array.from({ length: 4 }, () => undefined),
  )
})

test.each([
  '0',
  '9',
  '00009',
  '99',
  '100',
  '101',
  '1e3',
  '1000',
  '20000000',
  '',
  'many',
  '-1',
  '0x999',
  '1e9',
  ' 5',
  '9'.repeat(30),
])('a length of %j is more bytes than another if its number is greater', length => {
  const headers = new HeaderList()
  expect(headers.announcesMoreThan(0)).toBe(false)
  headers.add('content-length', length)
  for (const bytes of [0, 9, 10, 99, 100, 999, 1_000, 1_001, 9_999_999, 10_000_000, 20_000_000]) {
    expect(headers.announcesMoreThan(bytes), `${bytes}`).toBe(Number(length) > bytes)
  }
})
