/** `/nginx_allowed` (conditions.md 10.5): a question in headers, and a deny that nginx takes for one. */
import { describe, expect, test } from 'vitest'
import { answerFindings } from '#testing/requests/routes.ts'
import {
  ADMIN_KEY,
  API_KEY,
  neighbourOf,
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
const ASKED = {
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
])('%s', (method, operationId) => {
  const ask = async (headers: Readonly<Record<string, string>>, key?: string | null) => {
    const answer = await verdict.send(method, PATH, { headers, ...(key !== undefined && { key }) })
    const isDecided = answer.status === 200 || answer.status === 403
    if (isDecided) expect(answerFindings(operationId, answer.status, answer.body)).toEqual([])
    return [answer.status, answer.body]
  }

  test('is answered with 200 when it is allowed and with 403 when it is denied, with the body of a check', async () => {
    expect(await ask(ASKED)).toEqual(ALLOWED)
    expect(await ask({ ...ASKED, 'permit-action': 'update' })).toEqual(DENIED)
    expect(await ask({ ...ASKED, 'permit-tenant-id': 'default' })).toEqual(DENIED)
    expect(await ask({ ...ASKED, 'permit-user-key': 'nobody' })).toEqual(DENIED)
    expect(await ask({ ...ASKED, 'permit-resource-type': 'castle' })).toEqual(DENIED)
  })

  test('may name an instance, on which roles count then', async () => {
    const bob = { ...ASKED, 'permit-user-key': 'bob' }
    expect(await ask(bob)).toEqual(DENIED)
    expect(await ask({ ...bob, 'permit-resource-key': 'd1' })).toEqual(ALLOWED)
    expect(await ask({ ...bob, 'permit-resource-key': 'd1', 'permit-tenant-id': 'default' })).toEqual(DENIED)
  })

  test.each([...Object.keys(ASKED), 'permit-resource-key'])('is 400 with an empty %s', async name => {
    const message = expect.stringContaining('header Permit-')
    expect(await ask({ ...ASKED, [name]: '' })).toEqual([400, { code: 400, message }])
  })

  test.each(Object.keys(ASKED))('is 400 without %s', async name => {
    const { [name as keyof typeof ASKED]: _left, ...rest } = ASKED
    const message = expect.stringMatching(new RegExp(name, 'i'))
    expect(await ask(rest)).toEqual([400, { code: 400, message }])
  })

  test('is 401 without a key, and 403 as a refusal with a key of the organization', async () => {
    expect(await ask(ASKED, null)).toEqual([401, { code: 401, message: expect.any(String) }])
    expect(await ask(ASKED, ADMIN_KEY)).toEqual([403, { code: 403, message: expect.any(String) }])
  })
})

test('rules decide it, too, and it explains itself where answers do', async () => {
  const client = await startedService({ hasDebug: true })
  await client.createDocumentModel()
  await client.conditionSet({ key: 'alice', conditions: { 'user.key': { equals: 'alice' } } })
  await client.setRule('alice', 'document:read', 'document')
  for (const [user, status, allow] of [
    ['alice', 200, true],
    ['bob', 403, false],
  ] as const) {
    const headers = { ...ASKED, 'permit-tenant-id': 'default', 'permit-user-key': user }
    const answer = await client.send('GET', PATH, { headers })
    expect([answer.status, answer.body]).toMatchObject([status, { allow, debug: { abac: { allow } } }])
  }
})

test('needs no X-Request-ID where decisions do: nginx sends none', async () => {
  const strict = await startedService({ hasStrictHeaders: true })
  await strict.createDocumentModel()
  expect((await strict.send('GET', PATH, { headers: ASKED })).status).toBe(403)
})

test('is about the environment of the key, at the revision that it asks for', async () => {
  const key = await neighbourOf(verdict, 'neighbour')
  expect((await verdict.send('GET', PATH, { key, headers: ASKED })).status).toBe(403)
  const at = async (revision: string) =>
    (await verdict.send('GET', PATH, { headers: { ...ASKED, 'x-min-revision': revision } })).status
  expect([await at(await verdict.revision()), await at('another.1')]).toEqual([200, 400])
})

test('what is not ASCII at an end of a name is cut off by the HTTP library: the question is about another user', async () => {
  const asks = async (user: string): Promise<[byHeader: unknown, byBody: unknown]> => {
    const connection = await RawConnection.open(Number(new URL(verdict.address).port))
    const headers = Object.entries({ ...ASKED, 'permit-user-key': user }).map(each => each.join(': '))
    const head = [`GET ${PATH} HTTP/1.1`, 'host: h', `authorization: Bearer ${API_KEY}`, ...headers, '', '']
    await connection.send(Buffer.from(head.join('\r\n'), 'utf8'))
    const byHeader = (await connection.answer())?.status
    connection.destroy()
    const question = { user: { key: user }, action: 'read', resource: { type: 'document', tenant: 'acme' } }
    const byBody = ((await verdict.post('/allowed', question)).body as { allow: boolean }).allow
    return [byHeader, byBody]
  }
  await verdict.users('jos', 'josé', 'élan', 'zoë b')
  await verdict.assign('jos', 'reader', 'acme')
  await verdict.assign('élan', 'reader', 'acme')
  await verdict.assign('zoë b', 'reader', 'acme')
  expect(await asks('josé')).toEqual([200, false])
  expect(await asks('élan')).toEqual([403, true])
  // Within a name it stays.
  expect(await asks('zoë b')).toEqual([200, true])
})

describe('a header that occurs twice', () => {
  const ask = async (lines: readonly string[], path = `GET ${PATH}`, body = '') => {
    const connection = await RawConnection.open(Number(new URL(verdict.address).port))
    const length = body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]
    await connection.send([`${path} HTTP/1.1`, 'host: h', ...lines, ...length, '', body].join('\r\n'))
    const { status, body: text } = (await connection.answer())!
    connection.destroy()
    return [status, text.startsWith('{') ? (JSON.parse(text) as unknown) : text]
  }
  const lines = Object.entries({ ...ASKED, 'permit-resource-key': 'd1' }).map(each => each.join(': '))
  const authorization = `authorization: Bearer ${API_KEY}`
  const refused = (name: string) => [
    400,
    { code: 400, message: `the header ${name} occurs twice with different values; send it once` },
  ]

  test.each([...Object.keys(ASKED), 'permit-resource-key'])(
    'with two values of %s is 400, in either order, and with the same value decides',
    async name => {
      const line = lines.find(each => each.startsWith(`${name}:`))!
      expect(await ask([authorization, ...lines, `${name.toUpperCase()}: another`])).toEqual(refused(name))
      expect(await ask([authorization, `${name}: another`, ...lines])).toEqual(refused(name))
      expect(await ask([authorization, ...lines, line])).toEqual(ALLOWED)
    },
  )

  test('as a credential, a revision or the host is 400 wherever one is read', async () => {
    const question = JSON.stringify({
      user: { key: 'alice' },
      action: 'read',
      resource: { type: 'document', tenant: 'acme' },
    })
    const message = expect.stringContaining('occurs twice')
    for (const [path, body] of [
      ['POST /allowed', question],
      ['POST /allowed/bulk', `[${question}]`],
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
    const revision = await verdict.revision()
    const waits = [authorization, `x-min-revision: ${revision}`]
    expect((await ask([...waits, waits[1]!], 'POST /allowed', question))[0]).toBe(200)
    expect(await ask([...waits, 'x-min-revision: other.1'], 'POST /allowed', question)).toMatchObject([
      400,
      { message },
    ])
    const metadata = 'GET /.well-known/authzen-configuration'
    expect((await ask(['host: h'], metadata))[0]).toBe(200)
    expect((await ask(['host: other'], metadata))[0]).toBe(400)
  })

  test('and is a list or nothing that a decision depends on is read as before', async () => {
    const more = ['accept: a/b', 'accept: c/d', 'x-request-id: a', 'x-request-id: b']
    expect(await ask([authorization, ...lines, ...more])).toEqual(ALLOWED)
  })
})
