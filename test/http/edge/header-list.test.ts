/** A list of request headers, which is reused for later requests. */
import { describe, expect, test } from 'vitest'
import { HeaderList } from '#http/message/header-list.ts'

test('a cleared list contains no earlier headers', () => {
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

test('the first value of a repeated header counts', () => {
  const headers = new HeaderList()
  headers.add('x-tenant', 'first')
  headers.add('x-tenant', 'second')
  expect([headers.get('x-tenant'), [...headers]]).toEqual(['first', [['x-tenant', 'first']]])
})

describe('a contradiction of headers', () => {
  const contradictionIn = (sent: readonly (readonly [string, string])[], singles: readonly string[] = []) => {
    const headers = new HeaderList()
    for (const [name, value] of sent) headers.add(name, value)
    return headers.contradiction(singles)
  }

  test.each(['authorization', 'x-min-revision', 'content-type', 'content-encoding'])(
    'is a second, different value of %s',
    name => {
      expect(contradictionIn([[name, 'a'], [name, 'a'], ['host', 'h']])).toBeNull() // oxfmt-ignore
      expect(contradictionIn([[name, 'a'], ['host', 'h'], [name, 'b']])).toBe(name) // oxfmt-ignore
      expect(contradictionIn([[name, 'a'], [name, 'a'], [name, 'b'], [name, 'a']])).toBe(name) // oxfmt-ignore
      expect(contradictionIn([[name, ''], [name, 'b']])).toBe(name) // oxfmt-ignore
    },
  )

  test('is a second value of a header that the route names, but not of other headers', () => {
    const sent = [['permit-action', 'read'], ['accept', 'a'], ['accept', 'b'], ['permit-action', 'update']] as const // oxfmt-ignore
    expect(contradictionIn(sent)).toBeNull()
    expect(contradictionIn(sent, ['host', 'permit-user-key'])).toBeNull()
    expect(contradictionIn(sent, ['host', 'permit-action'])).toBe('permit-action')
    expect(contradictionIn([...sent.slice(0, 3), sent[0]!], ['permit-action'])).toBeNull()
  })

  test('is cleared with its request', () => {
    const headers = new HeaderList()
    for (const value of ['a', 'b']) for (const name of ['authorization', 'host']) headers.add(name, value)
    headers.clear(true)
    headers.add('host', 'a')
    expect(headers.contradiction(['host'])).toBeNull()
  })
})

test('headers with fields are distinguished from other names of the same length, and the first value counts', () => {
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
  // Each of these has the same length as the name above.
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

test('a list that keeps only headers with fields throws if another header is read', () => {
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

test('announced lengths are compared as numbers', () => {
  const lengths = '0 9 00009 99 100 101 1e3 1000 20000000 many -1 0x999 1e9'.split(' ')
  for (const length of ['', ' 5', '9'.repeat(30), ...lengths]) {
    const headers = new HeaderList()
    expect(headers.announcesMoreThan(0)).toBe(false)
    headers.add('content-length', length)
    for (const bytes of [0, 9, 10, 99, 100, 999, 1_000, 1_001, 9_999_999, 10_000_000, 20_000_000])
      expect(headers.announcesMoreThan(bytes), `${length} ${bytes}`).toBe(Number(length) > bytes)
  }
})
