/** Size limits of bodies. Parsing blocks a thread, so only bulk calls accept up to `MAX_BODY_BYTES`. */
import { describe, expect, test } from 'vitest'
import { PARTS_BODY_BYTES_MAX, PLAIN_BODY_BYTES_MAX } from '#model/limits.ts'
import {
  FACTS,
  question,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()

/** The JSON of a body, padded with leading spaces to this number of bytes. */
function padded(body: unknown, bytes: number): string {
  const text = JSON.stringify(body)
  return ' '.repeat(bytes - text.length) + text
}

let made = 0
const fresh = (): string => `key-${(made += 1)}`
const item = { action: { name: 'read' }, resource: { type: 'document', id: '1' } }
const user = { type: 'user', id: 'alice' }

const plain: readonly [method: string, path: string, body: () => unknown][] = [
  ['POST', '/allowed', () => question('alice', 'read', 'document')],
  ['POST', '/access/v1/evaluation', () => ({ subject: user, ...item })],
  ['POST', '/access/v1/search/subject', () => ({ subject: { type: 'user' }, ...item })],
  ['POST', '/user-permissions', () => ({ user: { key: 'alice' } })],
  ['POST', '/user-tenants', () => ({ user: { key: 'alice' } })],
  ['POST', '/allowed/all-tenants', () => question('alice', 'read', 'document')],
  ['POST', '/allowed/plan', () => question('alice', 'read', 'document')],
  ['POST', `${FACTS}/tenants`, () => ({ key: fresh(), name: 'T' })],
  ['POST', `${FACTS}/resource_instances`, () => ({ key: fresh(), resource: 'document', tenant: 'default' })],
  ['POST', `${RESOURCES}/document/actions`, () => ({ key: fresh(), name: 'A' })],
]
const withParts: typeof plain = [
  ['POST', `${FACTS}/users`, () => ({ key: fresh() })],
  ['POST', RESOURCES, () => ({ key: fresh(), name: 'R', actions: {} })],
  ['POST', `${SCHEMA}/roles`, () => ({ key: fresh(), name: 'R' })],
]
const bulks: typeof plain = [
  ['POST', '/allowed/bulk', () => [question('alice', 'read', 'document')]],
  ['POST', '/access/v1/evaluations', () => ({ subject: user, evaluations: [item] })],
  ['POST', `${FACTS}/bulk/users`, () => ({ operations: [{ key: fresh() }] })],
  ['PUT', `${SCHEMA}/bulk/roles`, () => ({ operations: [{ key: fresh(), name: 'R' }] })],
  ['POST', `${FACTS}/role_assignments/bulk`, () => []],
]

describe.each([
  ['about one entity', plain, PLAIN_BODY_BYTES_MAX],
  ['with parts', withParts, PARTS_BODY_BYTES_MAX],
] as const)('a body %s', (_, calls, bytesMax) => {
  test.each(calls)(
    'is accepted by %s %s up to its limit, and is a 413 beyond this limit',
    async (method, path, body) => {
      const status = async (bytes: number) =>
        (await verdict.send(method, path, { text: padded(body(), bytes) })).status
      expect([await status(bytesMax), await status(bytesMax + 1)]).toEqual([200, 413])
    },
  )
})

test.each(bulks)('the bulk call %s %s accepts a body of up to MAX_BODY_BYTES', async (method, path, body) => {
  const { status } = await verdict.send(method, path, { text: padded(body(), PARTS_BODY_BYTES_MAX + 1) })
  expect(status).toBe(200)
})

test('a larger attribute limit raises the limit of bodies with attributes up to MAX_BODY_BYTES', async () => {
  const bodyBytesMax = 8 * PLAIN_BODY_BYTES_MAX
  const larger = await startedService({ attributesBytesMax: 2 * PLAIN_BODY_BYTES_MAX, bodyBytesMax })
  for (const [bytes, status] of [
    [bodyBytesMax, 200],
    [bodyBytesMax + 1, 413],
  ] as const) {
    const text = padded({ key: fresh(), name: 'T' }, bytes)
    expect((await larger.send('POST', `${FACTS}/tenants`, { text })).status).toBe(status)
  }
})
