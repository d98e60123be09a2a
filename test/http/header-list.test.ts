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
