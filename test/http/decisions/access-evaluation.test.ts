/** Single evaluations and the information model (authzen.md 1, 3, 6, 8; native.md A.6, D-14, D-15, D-17). */
import { describe, expect, test } from 'vitest'
import {
  ask,
  changedAt,
  DENY,
  ENDPOINTS,
  entity,
  EVALUATION,
  evaluation,
  EVALUATIONS,
  GOOD,
  lastPage,
  messageOf,
  PERMIT,
  RESOURCES_FOUND,
  SUBJECTS,
  ACTIONS,
  textOf,
} from '../../support/calls/access-requests.ts'
import { sharedService, startedService } from '#testing/processes/running-service.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.resource({ key: 'user', actions: { greet: {} } })
await verdict.tenant('acme')
await verdict.tenantRole('reader', ['document:read', 'user:greet'])
await verdict.users('alice', 'bob', 'carol', 'CiRmZDA2MTRkMw+/=')
await verdict.assign('alice', 'viewer', 'document:d1')
await verdict.instance('document:a1', 'acme')
await verdict.assign('alice', 'viewer', 'document:a1', 'acme')
await verdict.assign('bob', 'reader', 'default')
await verdict.assign('carol', 'reader', 'acme')
await verdict.assign('CiRmZDA2MTRkMw+/=', 'viewer', 'document:/todos/{id}')

const good = evaluation('alice', 'read', 'document:d1')

/** The response of an evaluation as text. */
function decide(body: unknown): Promise<string> {
  return textOf(verdict, EVALUATION, body)
}

describe('an evaluation', () => {
  test('returns 200 and only the decision for an allow and a deny', async () => {
    expect(await decide(good)).toBe(PERMIT)
    expect(await decide(evaluation('alice', 'update', 'document:d1'))).toBe(DENY)
  })

  test.each([
    ['an unknown subject', evaluation('stranger', 'read', 'document:d1')],
    ['an unknown resource type', evaluation('alice', 'read', 'castle:d1')],
    ['an unknown resource id', evaluation('alice', 'read', 'document:unknown')],
    ['an unknown action', evaluation('alice', 'fly', 'document:d1')],
    ['names of prototype members', evaluation('__proto__', 'constructor', 'toString:valueOf')],
    ['an unknown subject type', { ...good, subject: { type: 'robot', id: 'alice' } }],
    [
      'the name of a prototype member as subject type',
      { ...good, subject: { type: 'constructor', id: 'alice' } },
    ],
  ])('denies and does not fail for %s', async (_about, body) => {
    expect(await decide(body)).toBe(DENY)
  })

  test('accepts ids with any characters', async () => {
    expect(await decide(evaluation('CiRmZDA2MTRkMw+/=', 'read', 'document:/todos/{id}'))).toBe(PERMIT)
    for (const id of ['a:b', ' ', '\n', '\u0000', '鍵😀', 'x'.repeat(10_000)]) {
      expect(await decide({ ...good, subject: { type: 'user', id } })).toBe(DENY)
      expect(await decide({ ...good, resource: { type: 'document', id } })).toBe(DENY)
    }
  })
})

const noise = {
  ownerID: 'x',
  _note: 'n',
  id2: null,
  nested: { a: [1, 'two', { b: null, c: -1.5e300, three: [[]] }], '': '' },
  properties: { a: null, email: 'a@example.com', first_name: 7 },
  __proto__x: {},
  constructor: 1,
}

test.each(ENDPOINTS)('%s ignores unknown members at every level of the body', async path => {
  const body = GOOD[path]
  const noisy: Record<string, unknown> = { ...noise }
  for (const [name, value] of Object.entries(body)) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    noisy[name] = isObject ? { ...noise, ...value } : value
  }
  noisy['options'] = { ...noise, evaluations_semantic: 'execute_all' }
  noisy['page'] = path.includes('search') ? { ...noise, properties: { a: 1 } } : 'not a page'
  const usual = await textOf(verdict, path, body)
  expect(await textOf(verdict, path, noisy)).toBe(usual)
  // A null in an optional member is the same as an absent member.
  expect(await textOf(verdict, path, { context: null, options: null, page: null, ...body })).toBe(usual)
})

test.each<[place: string, values: readonly unknown[]]>([
  ['subject', [undefined, null, 'alice', [good.subject]]],
  ['subject.type', [undefined, '', 1]],
  ['subject.id', [undefined, null, '', 7]],
  ['subject.properties', ['p']],
  ['action', [undefined, 'read']],
  ['action.name', [undefined, 1, '']],
  ['action.properties', [[]]],
  ['resource', [undefined, 'document:d1']],
  ['resource.type', [undefined, '']],
  ['resource.id', ['', 1]],
  ['context', ['now', []]],
])(
  'a request with a wrong %s (%j) is rejected with 400 and the position of the fault',
  async (place, values) => {
    for (const value of values) {
      for (const path of [EVALUATION, EVALUATIONS]) {
        const body = changedAt(good, place, value)
        expect(messageOf(await ask(verdict, path, { body }), 400), JSON.stringify(value)).toContain(place)
      }
    }
  },
)

describe('an evaluation of a resource without an id', () => {
  const ofType = (resource: object) => ({ ...evaluation('bob', 'read', 'document:x'), resource })

  test('checks the resource type', async () => {
    for (const resource of [{ type: 'document' }, { type: 'document', id: null }]) {
      expect(await decide(ofType(resource))).toBe(PERMIT)
      expect(await decide({ ...good, resource })).toBe(DENY)
    }
  })

  test('is rejected with 400 if AUTHZEN_STRICT is set; in a batch, only its item fails', async () => {
    const strict = await startedService({ isAuthzenStrict: true })
    for (const resource of [{ type: 'document' }, { type: 'document', id: null }]) {
      for (const path of [EVALUATION, EVALUATIONS]) {
        const answer = await ask(strict, path, { body: ofType(resource) })
        expect(messageOf(answer, 400)).toContain('resource.id')
      }
      const batch = { ...ofType(resource), evaluations: [{}] }
      const { evaluations } = JSON.parse(await textOf(strict, EVALUATIONS, batch))
      expect(evaluations).toEqual([
        {
          decision: false,
          context: { error: { status: 400, message: expect.stringContaining('resource.id') } },
        },
      ])
    }
    expect(await textOf(strict, EVALUATION, good)).toBe(DENY)
  })
})

describe('the tenant of an evaluation', () => {
  const inTenant = (user: string, on: string, tenant: unknown) => ({
    ...evaluation(user, 'read', on),
    resource: { ...entity(on), properties: { tenant, other: 1 } },
  })

  test('is the tenant in the properties of the resource', async () => {
    expect(await decide(inTenant('carol', 'document:unknown', 'acme'))).toBe(PERMIT)
    expect(await decide(inTenant('bob', 'document:unknown', 'acme'))).toBe(DENY)
    expect(await decide(inTenant('carol', 'document:unknown', 'nowhere'))).toBe(DENY)
  })

  test('is read only from a string; other values of this property are an ordinary attribute', async () => {
    for (const tenant of [null, 7, true, ['acme'], { key: 'acme' }]) {
      expect(await decide(inTenant('carol', 'document:a1', tenant))).toBe(PERMIT)
      expect(await decide(inTenant('bob', 'document:unknown', tenant))).toBe(PERMIT)
    }
  })

  test('is not read from any other member', async () => {
    const body = {
      ...evaluation('carol', 'read', 'document:unknown'),
      tenant: 'acme',
      context: { tenant: 'acme' },
    }
    expect(await decide({ ...body, subject: { ...body.subject, properties: { tenant: 'acme' } } })).toBe(DENY)
    expect(await decide({ ...body, resource: { ...body.resource, tenant: 'acme' } })).toBe(DENY)
  })
})

describe('the setting SUBJECT_TYPES', () => {
  const asType = (type: string) => ({ ...good, subject: { type, id: 'alice' } })

  test('contains user and identity by default', async () => {
    expect(await decide(asType('user'))).toBe(PERMIT)
    expect(await decide(asType('identity'))).toBe(PERMIT)
    expect(await decide(asType('User'))).toBe(DENY)
    expect(await textOf(verdict, SUBJECTS, { ...good, subject: { type: 'identity' } })).toBe(
      lastPage([
        { type: 'identity', id: 'alice' },
        { type: 'identity', id: 'bob' },
      ]),
    )
  })

  test('replaces the default types in evaluations, batches and searches', async () => {
    const other = await startedService({ subjectTypes: ['person'] })
    await other.createViewer('alice', 'document:d1')
    for (const [type, isKnown] of [
      ['person', true],
      ['user', false],
      ['identity', false],
    ] as const) {
      const body = asType(type)
      const decision = isKnown ? PERMIT : DENY
      expect(await textOf(other, EVALUATION, body)).toBe(decision)
      const batch = { ...body, evaluations: [{}, {}] }
      expect(await textOf(other, EVALUATIONS, batch)).toBe(`{"evaluations":[${decision},${decision}]}`)
      const found = (results: object[]) => lastPage(isKnown ? results : [])
      const searched = { ...body, subject: { type } }
      expect(await textOf(other, SUBJECTS, searched)).toBe(found([{ type, id: 'alice' }]))
      expect(await textOf(other, RESOURCES_FOUND, body)).toBe(found([entity('document:d1')]))
      expect(await textOf(other, ACTIONS, body)).toBe(found([{ name: 'read' }]))
    }
  })
})
