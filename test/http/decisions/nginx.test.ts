/** `/nginx_allowed` (conditions.md 10.5): checks in headers, whose deny has the status that nginx expects. */
import { describe, expect, test } from 'vitest'
import { answerFindings } from '#testing/requests/routes.ts'
import {
  ADMIN_KEY,
  API_KEY,
  neighbourOf,
  question,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { RawConnection } from '#testing/requests/raw-connection.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.tenant('acme')
await verdict.tenantRole('reader', ['document:read'])
await verdict.users('alice', 'bob')
await verdict.assign('alice', 'reader', 'acme')
await verdict.instance('document:d1', 'acme')
await verdict.assign('bob', 'viewer', 'document:d1', 'acme')

const PATH = '/nginx_allowed'
const CHECK = {
  'permit-user-key': 'alice',
  'permit-tenant-id': 'acme',
  'permit-action': 'read',
  'permit-resource-type': 'document',
}

const DENIED = [403, { allow: false, result: false }]
const ALLOWED = [200, { allow: true, result: true }]

describe.each([
  ['GET', 'isAllowedNginx'],
  ['POST', 'isAllowedNginxByPost'],
])('a check of nginx with %s', (method, operationId) => {
  const ask = async (headers: Readonly<Record<string, string>>, key?: string | null) => {
    const answer = await verdict.send(method, PATH, { headers, ...(key !== undefined && { key }) })
    const isDecided = answer.status === 200 || answer.status === 403
    if (isDecided) expect(answerFindings(operationId, answer.status, answer.body)).toEqual([])
    return [answer.status, answer.body]
  }

  test('returns 200 for an allow and 403 for a deny, with the body of a native check', async () => {
    expect(await ask(CHECK)).toEqual(ALLOWED)
    expect(await ask({ ...CHECK, 'permit-action': 'update' })).toEqual(DENIED)
    expect(await ask({ ...CHECK, 'permit-tenant-id': 'default' })).toEqual(DENIED)
    expect(await ask({ ...CHECK, 'permit-user-key': 'unknown' })).toEqual(DENIED)
    expect(await ask({ ...CHECK, 'permit-resource-type': 'castle' })).toEqual(DENIED)
  })

  test('can name an instance, so that roles on this instance also apply', async () => {
    const bob = { ...CHECK, 'permit-user-key': 'bob' }
    expect(await ask(bob)).toEqual(DENIED)
    expect(await ask({ ...bob, 'permit-resource-key': 'd1' })).toEqual(ALLOWED)
    expect(await ask({ ...bob, 'permit-resource-key': 'd1', 'permit-tenant-id': 'default' })).toEqual(DENIED)
  })

  test.each([...Object.keys(CHECK), 'permit-resource-key'])(
    'is rejected with 400 if %s is empty',
    async name => {
      const message = expect.stringContaining('header Permit-')
      expect(await ask({ ...CHECK, [name]: '' })).toEqual([400, { code: 400, message }])
    },
  )

  test.each(Object.keys(CHECK))('is rejected with 400 without %s', async name => {
    const { [name as keyof typeof CHECK]: _left, ...rest } = CHECK
    const message = expect.stringMatching(new RegExp(name, 'i'))
    expect(await ask(rest)).toEqual([400, { code: 400, message }])
  })

  test('is rejected with 401 without a key, and with 403 for the key of the organization', async () => {
    expect(await ask(CHECK, null)).toEqual([401, { code: 401, message: expect.any(String) }])
    expect(await ask(CHECK, ADMIN_KEY)).toEqual([403, { code: 403, message: expect.any(String) }])
  })
})

test('checks of nginx evaluate rules, and are explained with DEBUG_DECISIONS', async () => {
  const client = await startedService({ hasDebug: true })
  await client.createDocumentModel()
  await client.conditionSet({ key: 'alice', conditions: { 'user.key': { equals: 'alice' } } })
  await client.setRule('alice', 'document:read', 'document')
  for (const [user, status, allow] of [
    ['alice', 200, true],
    ['bob', 403, false],
  ] as const) {
    const headers = { ...CHECK, 'permit-tenant-id': 'default', 'permit-user-key': user }
    const answer = await client.send('GET', PATH, { headers })
    expect([answer.status, answer.body]).toMatchObject([status, { allow, debug: { abac: { allow } } }])
  }
})

test('checks of nginx need no X-Request-ID with STRICT_HEADERS', async () => {
  const strict = await startedService({ hasStrictHeaders: true })
  await strict.createDocumentModel()
  expect((await strict.send('GET', PATH, { headers: CHECK })).status).toBe(403)
})

test('a check of nginx uses the environment of the key and the requested revision', async () => {
  const key = await neighbourOf(verdict, 'neighbour')
  expect((await verdict.send('GET', PATH, { key, headers: CHECK })).status).toBe(403)
  const at = async (revision: string) =>
    (await verdict.send('GET', PATH, { headers: { ...CHECK, 'x-min-revision': revision } })).status
  expect([await at(await verdict.revision()), await at('another.1')]).toEqual([200, 400])
})

test('the HTTP library removes non-ASCII characters at the ends of a header, so that it can name another user', async () => {
  const check = async (user: string): Promise<[byHeader: unknown, byBody: unknown]> => {
    const connection = await RawConnection.open(Number(new URL(verdict.address).port))
    const headers = Object.entries({ ...CHECK, 'permit-user-key': user }).map(each => each.join(': '))
    const head = [`GET ${PATH} HTTP/1.1`, 'host: h', `authorization: Bearer ${API_KEY}`, ...headers, '', '']
    const byHeader = (await connection.ask(Buffer.from(head.join('\r\n'), 'utf8')))?.status
    connection.destroy()
    return [byHeader, await verdict.allows(user, 'read', 'document', 'acme')]
  }
  await verdict.users('jos', 'josé', 'élan', 'zoë b')
  await verdict.assign('jos', 'reader', 'acme')
  await verdict.assign('élan', 'reader', 'acme')
  await verdict.assign('zoë b', 'reader', 'acme')
  expect(await check('josé')).toEqual([200, false])
  expect(await check('élan')).toEqual([403, true])
  // Characters within a name are preserved.
  expect(await check('zoë b')).toEqual([200, true])
})

describe('a duplicate header', () => {
  const ask = async (lines: readonly string[], path = `GET ${PATH}`, body = '') => {
    const connection = await RawConnection.open(Number(new URL(verdict.address).port))
    const length = body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]
    await connection.send([`${path} HTTP/1.1`, 'host: h', ...lines, ...length, '', body].join('\r\n'))
    const { status, body: text } = (await connection.answer())!
    connection.destroy()
    return [status, text.startsWith('{') ? (JSON.parse(text) as unknown) : text]
  }
  const lines = Object.entries({ ...CHECK, 'permit-resource-key': 'd1' }).map(each => each.join(': '))
  const authorization = `authorization: Bearer ${API_KEY}`
  const rejection = (name: string) => [
    400,
    { code: 400, message: `the header ${name} occurs twice with different values; send it once` },
  ]

  test.each([...Object.keys(CHECK), 'permit-resource-key'])(
    '%s is rejected with 400 if its values differ, and accepted if they are equal',
    async name => {
      const line = lines.find(each => each.startsWith(`${name}:`))!
      expect(await ask([authorization, ...lines, `${name.toUpperCase()}: another`])).toEqual(rejection(name))
      expect(await ask([authorization, `${name}: another`, ...lines])).toEqual(rejection(name))
      expect(await ask([authorization, ...lines, line])).toEqual(ALLOWED)
    },
  )

  test('with a credential, revision or host is rejected with 400 at every endpoint that reads it', async () => {
    const check = JSON.stringify(question('alice', 'read', 'document', 'acme'))
    const message = expect.stringContaining('occurs twice')
    for (const [path, body] of [
      ['POST /allowed', check],
      ['POST /allowed/bulk', `[${check}]`],
      ['GET /local/role_assignments', ''],
      [`GET ${SCHEMA}/resources`, ''],
      [`GET ${PATH}`, ''],
    ] as const) {
      const more = path.endsWith(PATH) ? lines : []
      for (const other of [`Bearer ${ADMIN_KEY}`, 'Bearer no-key', '']) {
        const sent = [authorization, `Authorization: ${other}`, ...more]
        expect((await ask(sent, path, body))[0], `${path} ${other}`).toBe(400)
        expect((await ask(sent.toReversed(), path, body))[0]).toBe(400)
      }
      expect((await ask([authorization, authorization, ...more], path, body))[0]).toBe(200)
    }
    const current = `x-min-revision: ${await verdict.revision()}`
    const atRevisions = (other: string) => ask([authorization, current, other], 'POST /allowed', check)
    expect((await atRevisions(current))[0]).toBe(200)
    expect(await atRevisions('x-min-revision: other.1')).toMatchObject([400, { message }])
    const metadata = 'GET /.well-known/authzen-configuration'
    expect((await ask(['host: h'], metadata))[0]).toBe(200)
    expect((await ask(['host: other'], metadata))[0]).toBe(400)
  })

  test('is accepted if it is a list or does not affect the decision', async () => {
    const more = ['accept: a/b', 'accept: c/d', 'x-request-id: a', 'x-request-id: b']
    expect(await ask([authorization, ...lines, ...more])).toEqual(ALLOWED)
  })
})
