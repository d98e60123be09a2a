/**
 * `If-None-Match: *` and `If-Match` on grants: a request that makes a grant, moves its end or removes it overwrites no end that the client
 * has not seen. The tag of a grant is its end. What races do to it is shown by `test/service/conditional-changes.test.ts`.
 */
import { describe, expect, test } from 'vitest'
import { type Answer, type Problem, refusal, sharedService } from '#testing/processes/running-service.ts'
import { mountedRoutes, routes } from '#testing/requests/routes.ts'
import { createGrantModel, GRANTS } from '../../support/grants.ts'

const verdict = await sharedService()
await createGrantModel(verdict)

const LASTS = '"null"'
const MAY = '2090-05-01T00:00:00.000Z'
const JUNE = '2090-06-01T00:00:00.000Z'
const tagOf = (end: string | null): string => `"${end}"`
const membership = () => GRANTS['a member of a group']!(verdict)

function expectRefused(answer: Answer, present: string | null): void {
  expect(refusal(answer)).toEqual([412, 'PRECONDITION_FAILED'])
  expect(answer.headers.get('etag')).toBe(present)
  expect(answer.headers.get('cache-control')).toBe('no-transform')
}

describe.each(Object.entries(GRANTS))('%s', (_, make) => {
  test('is created only if there is none; a refusal has the tag of the one that exists', async () => {
    const grant = await make(verdict)
    expect((await grant.put(MAY, { 'if-none-match': '*' })).status).toBe(200)
    for (const end of [MAY, JUNE, null])
      expectRefused(await grant.put(end, { 'if-none-match': '*' }), tagOf(MAY))
    expect(await grant.ends()).toEqual([MAY])
    await grant.drop()
    expect((await grant.put(null, { 'if-none-match': '*' })).status).toBe(200)
    expectRefused(await grant.put(MAY, { 'if-none-match': '*' }), LASTS)
    expect(await grant.ends()).toEqual([null])
  })

  test('gets another end only if its tag matches', async () => {
    const grant = await make(verdict)
    expectRefused(await grant.put(MAY, { 'if-match': LASTS }), null)
    expectRefused(await grant.put(MAY, { 'if-match': '*' }), null)
    expect(await grant.ends()).toEqual([])
    await grant.put(null)
    expectRefused(await grant.put(JUNE, { 'if-match': tagOf(MAY) }), LASTS)
    expect((await grant.put(MAY, { 'if-match': LASTS })).status).toBe(200)
    expectRefused(await grant.put(JUNE, { 'if-match': LASTS }), tagOf(MAY))
    expect((await grant.put(JUNE, { 'if-match': `"another", ${tagOf(MAY)}` })).status).toBe(200)
    expect((await grant.put(null, { 'if-match': '*' })).status).toBe(200)
    expect(await grant.ends()).toEqual([null])
  })

  test('is removed only if its tag matches, also as proxies that compress change it', async () => {
    const grant = await make(verdict)
    expect((await grant.drop({ 'if-match': '*' })).status).toBe(404)
    await grant.put(MAY)
    for (const tag of [LASTS, tagOf(JUNE), `W/${tagOf(JUNE)}`])
      expectRefused(await grant.drop({ 'if-match': tag }), tagOf(MAY))
    expect(await grant.ends()).toEqual([MAY])
    expect((await grant.drop({ 'if-match': tagOf(MAY) })).status).toBe(204)
    expect(await grant.ends()).toEqual([])
    await grant.put(MAY)
    expect((await grant.put(null, { 'if-match': `W/${tagOf(MAY)}` })).status).toBe(200)
    expect((await grant.drop({ 'if-match': `${LASTS.slice(0, -1)}-gzip"` })).status).toBe(204)
  })

  test('takes the headers that its description names', async () => {
    const { made, removed } = await make(verdict)
    const headersOf = (operation: string): string[] =>
      [...routes, ...mountedRoutes]
        .filter(({ operationId }) => operationId === operation)
        .map(({ headers, refusals }) => {
          const names = (headers ?? []).map(({ name }) => name).filter(name => name.startsWith('If-'))
          return [...names, ...refusals].join()
        })
    for (const each of headersOf(made)) expect(each).toMatch(/^If-Match,If-None-Match,.*412/)
    for (const each of headersOf(removed)) expect(each).toMatch(/^If-Match,.*412/)
  })
})

test('a header without a meaning is 422, and changes nothing', async () => {
  const grant = await membership()
  for (const text of ['', '"null"', 'W/"a"', '*, *']) {
    expect(refusal(await grant.put(null, { 'if-none-match': text })), text).toEqual([422, 'INVALID_INPUT'])
  }
  expect(refusal(await grant.put(null, { 'if-match': 'null' }))).toEqual([422, 'INVALID_INPUT'])
  expect(await grant.ends()).toEqual([])
  await grant.put(null)
  // Nothing both exists and does not exist yet.
  expectRefused(await grant.put(MAY, { 'if-match': LASTS, 'if-none-match': '*' }), LASTS)
  expect(await grant.ends()).toEqual([null])
})

test('the message of a refusal names the present tag', async () => {
  const grant = await membership()
  await grant.put(MAY)
  const told = ({ body }: Answer): string => (body as Problem).message
  expect(told(await grant.put(null, { 'if-none-match': '*' }))).toBe(
    `If-None-Match expects none, and there is one, "${MAY}": nothing was changed; read it again`,
  )
  expect(told(await grant.put(null, { 'if-match': LASTS }))).toBe(
    `If-Match expects "null", and it is "${MAY}" by now: nothing was changed; read it again`,
  )
})
