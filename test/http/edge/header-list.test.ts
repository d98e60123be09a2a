/** The headers of a request, in a list that is used for one request after another. */
import { describe, expect, test } from 'vitest'
import { HeaderList } from '#http/message/header-list.ts'

test('a list that was cleared has nothing of the headers before, however it is asked', () => {
  const headers = new HeaderList()
  for (const name of ['authorization', 'content-length', 'x-tenant', 'traceparent'])
    headers.add(name, 'before')
  headers.add('content-length', 'again')
  expect([headers.size, headers.framingFault]).toEqual([4, expect.stringContaining('once')])
  headers.clear(true)
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

describe('a contradiction', () => {
  const contradictionIn = (sent: readonly (readonly [string, string])[], singles: readonly string[] = []) => {
    const headers = new HeaderList()
    for (const [name, value] of sent) headers.add(name, value)
    return headers.contradiction(singles)
  }

  test.each(['authorization', 'x-min-revision', 'content-type', 'content-encoding'])(
    'is a second value of %s, and not the same value again',
    name => {
      expect(contradictionIn([[name, 'a'], [name, 'a'], ['host', 'h']])).toBeNull() // oxfmt-ignore
      expect(contradictionIn([[name, 'a'], ['host', 'h'], [name, 'b']])).toBe(name) // oxfmt-ignore
      expect(contradictionIn([[name, 'a'], [name, 'a'], [name, 'b'], [name, 'a']])).toBe(name) // oxfmt-ignore
      expect(contradictionIn([[name, ''], [name, 'b']])).toBe(name) // oxfmt-ignore
    },
  )

  test('is a second value of a header that the route names, and of no other header', () => {
    const sent = [['permit-action', 'read'], ['accept', 'a'], ['accept', 'b'], ['permit-action', 'update']] as const // oxfmt-ignore
    expect(contradictionIn(sent)).toBeNull()
    expect(contradictionIn(sent, ['host', 'permit-user-key'])).toBeNull()
    expect(contradictionIn(sent, ['host', 'permit-action'])).toBe('permit-action')
    expect(contradictionIn([...sent.slice(0, 3), sent[0]!], ['permit-action'])).toBeNull()
  })

  test('is forgotten with the request that had it', () => {
    const headers = new HeaderList()
    for (const value of ['a', 'b']) for (const name of ['authorization', 'host']) headers.add(name, value)
    headers.clear(true)
    headers.add('host', 'a')
    expect(headers.contradiction(['host'])).toBeNull()
  })
})

test('those with fields are found by name among others as long, and the first of each counts', () => {
  const headers = new HeaderList()
  const names = [
    'authorization',
    'x-request-id',
    'x-min-revision',
    'content-length',
    'content-type',
    'content-encoding',
    'transfer-encoding',
    'connection',
  ]
  // As long as one of them each.
  const others = [
    'accept-tokens',
    'x-request-at',
    'x-min-revisian',
    'content-langth',
    'content-tipe',
    'content-encodinh',
    'transfer-encodinh',
    'connectiom',
  ]
  const sent = names.flatMap((name, index) => [others[index]!, name])
  for (const round of ['first', 'second']) for (const name of sent) headers.add(name, `${round} ${name}`)
  const withFields = () => {
    const { authorization, requestId, minRevision, contentLength, contentType, contentEncoding } = headers
    return [authorization, requestId, minRevision, contentLength, contentType, contentEncoding]
  }
  expect(withFields()).toEqual(names.slice(0, 6).map(name => `first ${name}`))
  expect(Object.fromEntries(headers)).toEqual(Object.fromEntries(sent.map(name => [name, `first ${name}`])))
  expect(sent.map(name => headers.get(name))).toEqual(sent.map(name => `first ${name}`))
  headers.clear(true)
  for (const name of others) headers.add(name, 'another')
  expect(withFields()).toEqual(Array.from({ length: 6 }, () => undefined))
  expect([headers.endsConnection, headers.announcesBody, headers.framingFault]).toEqual([false, false, null])
  expect([...headers]).toEqual(others.map(name => [name, 'another']))
})

test('where only those with fields are kept, they are all there, and to ask for another is a defect', () => {
  const headers = new HeaderList()
  headers.clear(false)
  for (const name of ['host', 'content-type', 'authorization']) headers.add(name, `the ${name}`)
  expect(['content-type', 'authorization', 'x-request-id'].map(name => headers.get(name))).toEqual([
    'the content-type',
    'the authorization',
    undefined,
  ])
  for (const ask of [() => headers.get('host'), () => headers.has('accept'), () => [...headers]]) {
    expect(ask).toThrow('not kept')
  }
  headers.clear(true)
  headers.add('host', 'now')
  expect([...headers]).toEqual([['host', 'now']])
})

test('a length is more bytes than another if its number is greater', () => {
  const lengths = '0 9 00009 99 100 101 1e3 1000 20000000 many -1 0x999 1e9'.split(' ')
  for (const length of ['', ' 5', '9'.repeat(30), ...lengths]) {
    const headers = new HeaderList()
    expect(headers.announcesMoreThan(0)).toBe(false)
    headers.add('content-length', length)
    for (const bytes of [0, 9, 10, 99, 100, 999, 1_000, 1_001, 9_999_999, 10_000_000, 20_000_000])
      expect(headers.announcesMoreThan(bytes), `${length} ${bytes}`).toBe(Number(length) > bytes)
  }
})
