/**
 * `If-None-Match: *` and `If-Match` on grants. The tag of a grant is its expiration time, so that a client
 * cannot overwrite an expiration time that it has not read. `test/service/conditional-changes.test.ts` tests
 * races.
 */
import { describe, expect, test } from 'vitest'
import { type Answer, sharedService } from '#testing/processes/running-service.ts'
import { type Problem, refusal } from '../../support/calls/refusals.ts'
import { mountedRoutes, routes } from '#testing/requests/routes.ts'
import { createGrantModel, GRANTS } from '../../support/calls/grants.ts'

const verdict = await sharedService()
await createGrantModel(verdict)

/** Tag of a grant that does not expire. */
const PERMANENT = '"null"'
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
  test('is created only if it does not exist; otherwise the 412 has the tag of the existing grant', async () => {
    const grant = await make(verdict)
    expect((await grant.put(MAY, { 'if-none-match': '*' })).status).toBe(200)
    for (const end of [MAY, JUNE, null])
      expectRefused(await grant.put(end, { 'if-none-match': '*' }), tagOf(MAY))
    expect(await grant.ends()).toEqual([MAY])
    await grant.drop()
    expect((await grant.put(null, { 'if-none-match': '*' })).status).toBe(200)
    expectRefused(await grant.put(MAY, { 'if-none-match': '*' }), PERMANENT)
    expect(await grant.ends()).toEqual([null])
  })

  test('gets another expiration time only if its tag matches', async () => {
    const grant = await make(verdict)
    expectRefused(await grant.put(MAY, { 'if-match': PERMANENT }), null)
    expectRefused(await grant.put(MAY, { 'if-match': '*' }), null)
    expect(await grant.ends()).toEqual([])
    await grant.put(null)
    expectRefused(await grant.put(JUNE, { 'if-match': tagOf(MAY) }), PERMANENT)
    expect((await grant.put(MAY, { 'if-match': PERMANENT })).status).toBe(200)
    expectRefused(await grant.put(JUNE, { 'if-match': PERMANENT }), tagOf(MAY))
    expect((await grant.put(JUNE, { 'if-match': `"another", ${tagOf(MAY)}` })).status).toBe(200)
    expect((await grant.put(null, { 'if-match': '*' })).status).toBe(200)
    expect(await grant.ends()).toEqual([null])
  })

  test('is removed only if its tag matches, including forms of the tag that proxies create', async () => {
    const grant = await make(verdict)
    expect((await grant.drop({ 'if-match': '*' })).status).toBe(404)
    await grant.put(MAY)
    for (const tag of [PERMANENT, tagOf(JUNE), `W/${tagOf(JUNE)}`])
      expectRefused(await grant.drop({ 'if-match': tag }), tagOf(MAY))
    expect(await grant.ends()).toEqual([MAY])
    expect((await grant.drop({ 'if-match': tagOf(MAY) })).status).toBe(204)
    expect(await grant.ends()).toEqual([])
    await grant.put(MAY)
    expect((await grant.put(null, { 'if-match': `W/${tagOf(MAY)}` })).status).toBe(200)
    expect((await grant.drop({ 'if-match': `${PERMANENT.slice(0, -1)}-gzip"` })).status).toBe(204)
  })

  test('has the headers and the status 412 in the descriptions of its operations', async () => {
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

test('a malformed If-None-Match or If-Match is a 422 and changes nothing', async () => {
  const grant = await membership()
  for (const text of ['', '"null"', 'W/"a"', '*, *']) {
    expect(refusal(await grant.put(null, { 'if-none-match': text })), text).toEqual([422, 'INVALID_INPUT'])
  }
  expect(refusal(await grant.put(null, { 'if-match': 'null' }))).toEqual([422, 'INVALID_INPUT'])
  expect(await grant.ends()).toEqual([])
  await grant.put(null)
  // These two headers exclude each other, so the request always fails.
  expectRefused(await grant.put(MAY, { 'if-match': PERMANENT, 'if-none-match': '*' }), PERMANENT)
  expect(await grant.ends()).toEqual([null])
})

test('the message of a 412 names the current tag', async () => {
  const grant = await membership()
  await grant.put(MAY)
  const messageOf = ({ body }: Answer): string => (body as Problem).message
  expect(messageOf(await grant.put(null, { 'if-none-match': '*' }))).toBe(
    `If-None-Match expects that the entity does not exist, but it exists with tag "${MAY}"; nothing was changed, read it again`,
  )
  expect(messageOf(await grant.put(null, { 'if-match': PERMANENT }))).toBe(
    `If-Match expects "null", but the current tag is "${MAY}"; nothing was changed, read the entity again`,
  )
})
