/** Actors that clients claim: the form of the headers, and the requests that reject an invalid claim. */
import { describe, expect, test } from 'vitest'
import { claimIn } from '#http/message/claimed-actor.ts'
import { HeaderList } from '#http/message/header-list.ts'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import { rowKeyOf } from '#store/keyspace/keyspace.ts'
import { decodeRecord, encodeRecord } from '#store/keyspace/record-codec.ts'
import { ADMIN_KEY, type Envelope, sharedService } from '#testing/processes/running-service.ts'
import { mountedRoutes, routes } from '#testing/requests/routes.ts'
import { exampleCalls } from '../../support/calls/example-calls.ts'

const verdict = await sharedService()
const ELEVEN = Array.from({ length: 11 }, (_, index) => `n${index}`)
const LONG = 'n'.repeat(256)

/** The claim in headers with these values. Several values stand for a repeated header. */
function claimOf(actor: readonly string[], actorsFor: readonly string[]) {
  const headers = new HeaderList()
  for (const value of actor) headers.add('x-actor', value)
  for (const value of actorsFor) headers.add('x-actor-for', value)
  return claimIn(headers)
}

describe('a claimed actor', () => {
  test.each<[actor: string, actorsFor: string | null, name: string, ...onBehalfOf: string[]]>([
    ['alice', null, 'alice'],
    ['auth0%7C12', null, 'auth0|12'],
    ['M%C3%BCller', null, 'Müller'],
    ['Ann Lee', '', 'Ann Lee'],
    ['a%2Cb', 'c%2Cd,e', 'a,b', 'c,d', 'e'],
    ['a%2525', null, 'a%25'],
    ['agent-7', 'bob, carol', 'agent-7', 'bob', 'carol'],
    ['a', ELEVEN.slice(1).join(), 'a', ...ELEVEN.slice(1)],
    [LONG, null, LONG],
    ['%C3%BC'.repeat(128), null, 'ü'.repeat(128)],
    [LONG, `${Array(6).fill(LONG).join()},${'n'.repeat(250)}`, LONG, ...Array(6).fill(LONG), 'n'.repeat(250)],
  ])('is accepted with the decoded names: %s, %s', (actor, actorsFor, name, ...onBehalfOf) => {
    expect(claimOf([actor], actorsFor === null ? [] : [actorsFor])).toEqual({ name, onBehalfOf })
  })

  test('is absent if both headers are absent or empty', () => {
    for (const [actor, actorsFor] of [
      [[], []],
      [[''], []],
      [[''], ['']],
    ]) {
      expect(claimOf(actor!, actorsFor!)).toBe(null)
    }
  })

  test.each<[actor: string | readonly string[], actorsFor?: string | readonly string[]]>([
    ...['a,b', '%zz', '%', '%C3', 'a%0Ab', 'a%C2%85', '%7F', '%20a', 'a%20', '%C2%A0a', 'a\tb', 'Müller'].map(
      name => [name] as [string],
    ),
    [`${LONG}n`],
    ['%C3%BC'.repeat(129)],
    [['alice', 'alice']],
    [['', '']],
    ['', 'bob'],
    [[], 'bob'],
    ['a', ELEVEN.join()],
    ['a', 'bob,,carol'],
    ['a', 'bob,'],
    ['a', '%00'],
    ['a', ['bob', 'carol']],
    [LONG, `${Array(6).fill(LONG).join()},${'n'.repeat(251)}`],
  ])('is rejected: %s, %s', (actor, actorsFor = []) => {
    const rejected = expect.objectContaining({
      code: 'INVALID_SHAPE',
      detail: [expect.objectContaining({ loc: ['header', 'X-Actor'] })],
    })
    expect(() => claimOf([actor].flat(), [actorsFor].flat())).toThrow(rejected)
  })

  test('is rejected with 422 by every management request, before anything changes, and by no decision', async () => {
    const headers = { 'x-actor': 'a,b' }
    const management = new Set<string>()
    for (const { operation, method, path, key, body, text, headers: own } of exampleCalls('none')) {
      const sent = { ...(key !== undefined && { key }), headers: { ...own, ...headers } }
      const content = text === undefined ? { body } : { text }
      const answer = await verdict.send<Record<string, unknown>>(method, path, { ...sent, ...content })
      const { family, access } = routes.find(({ operationId }) => operationId === operation)!
      const isManagement = family === 'management' && access !== 'public'
      if (isManagement) management.add(operation)
      expect([operation, answer.status === 422], JSON.stringify(answer.body)).toEqual([
        operation,
        isManagement,
      ])
      if (!isManagement) continue
      const detail = [expect.objectContaining({ loc: ['header', 'X-Actor'] })]
      expect(answer.body).toMatchObject({ error_code: 'INVALID_INPUT', detail })
    }
    expect(management.size).toBeGreaterThan(100)
    expect(mountedRoutes.filter(({ readsClaim }) => !readsClaim)).toEqual([])
    const { body } = await verdict.admin<Envelope<AuditEntry>>('GET', '/v2/audit-log/default/default')
    expect(body.data).toEqual([])
  })

  test('does not change the caller: the key determines permissions and the creator of a key', async () => {
    const headers = { 'x-actor': 'root', 'x-actor-for': 'admin' }
    expect((await verdict.send('GET', '/v2/audit-log', { headers })).status).toBe(403)
    const body = { project_id: 'default', environment_id: 'default' }
    const made = await verdict.send('POST', '/v2/api-key', { key: ADMIN_KEY, headers, body })
    expect(made.body).toMatchObject({ created_by: { api_key_id: null } })
    const { body: log } = await verdict.admin<Envelope<AuditEntry>>('GET', '/v2/audit-log?actor=root')
    const claimed_by = { api_key_id: null }
    expect(log.data.map(({ operation, actor }) => [operation, actor])).toEqual([
      ['createApiKey', { kind: 'claimed', name: 'root', on_behalf_of: ['admin'], claimed_by }],
    ])
  })
})

test('an audit entry without an actor is stored as older releases stored it, and theirs is read', () => {
  const id = '00000000-0000-4000-8000-000000000001'
  const about = { keyId: id, requestId: 'r', operation: 'createUser', input: {}, isInputCut: false }
  const rest = { sequence: null, aboutNames: [], aboutIds: [] }
  const entry = { kind: 'audit', id, createdAt: 1.5, ...about, ...rest, actor: null } as const
  const value = encodeRecord(entry)
  // The first byte is the head of an array, which contains its length.
  expect(value[0]).toBe(0x90 + 10)
  expect(decodeRecord({ key: rowKeyOf(entry), value })).toEqual(entry)
  const claimed = { ...entry, actor: { kind: 'claimed', name: 'ü', onBehalfOf: ['b'] } } as const
  expect(decodeRecord({ key: rowKeyOf(claimed), value: encodeRecord(claimed) })).toEqual(claimed)
})
