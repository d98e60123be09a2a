/** Batches of evaluations: defaults, the three semantics, failed items (authzen.md 4). */
import { describe, expect, test } from 'vitest'
import {
  ask,
  changedAt,
  DENY,
  entity,
  evaluation,
  EVALUATIONS,
  messageOf,
  PERMIT,
  textOf,
} from '../../support/access-requests.ts'
import { sharedService } from '#testing/processes/running-service.ts'

const BULK_MAX = 300
const verdict = await sharedService({ bulkChecksMax: BULK_MAX })
await verdict.createDocumentModel()
await verdict.users('alice', 'bob')
await verdict.assign('alice', 'editor', 'document:d1')
await verdict.assign('alice', 'viewer', 'document:d2')
await verdict.assign('bob', 'viewer', 'document:d2')

const defaults = evaluation('alice', 'read', 'document:d1')
const update = { action: { name: 'update' } }
const on = (reference: string) => ({ resource: entity(reference) })
const yes = on('document:d1')
const no = on('document:unheard-of')

function batch(body: unknown): Promise<string> {
  return textOf(verdict, EVALUATIONS, body)
}

function inTurn(...decisions: readonly string[]): string {
  return `{"evaluations":[${decisions.join()}]}`
}

interface Item {
  readonly decision: boolean
  readonly context?: { readonly error: { readonly status: number; readonly message: string } }
}

async function items(body: unknown): Promise<readonly Item[]> {
  return JSON.parse(await batch(body)).evaluations
}

const DENIED = { decision: false }
const ALLOWED = { decision: true }
const FAILED = { decision: false, context: { error: { status: 400, message: expect.stringMatching(/./) } } }

describe('a batch without items', () => {
  test.each([
    ['absent', {}],
    ['empty', { evaluations: [] }],
    ['null', { evaluations: null }],
  ])('because they are %s is a single evaluation of the top level', async (_about, none) => {
    expect(await batch({ ...defaults, ...none })).toBe(PERMIT)
    expect(await batch({ ...evaluation('bob', 'read', 'document:d1'), ...none })).toBe(DENY)
    expect(
      await batch({ ...defaults, ...none, options: { evaluations_semantic: 'deny_on_first_deny' } }),
    ).toBe(PERMIT)
    for (const missing of ['subject', 'action', 'resource']) {
      const body = { ...defaults, [missing]: undefined, ...none }
      expect(messageOf(await ask(verdict, EVALUATIONS, { body }), 400)).toContain(missing)
    }
  })

  test('may ask about a type as a whole', async () => {
    expect(await batch({ ...defaults, resource: { type: 'document' } })).toBe(DENY)
  })
})

describe('an item', () => {
  test('uses its own members, and the defaults for those it lacks', async () => {
    expect(
      await batch({
        ...defaults,
        evaluations: [{}, update, on('document:d2'), { ...update, ...on('document:d2') }],
      }),
    ).toBe(inTurn(PERMIT, PERMIT, PERMIT, DENY))
    const subjects = ['alice', 'bob', 'stranger'].map(id => ({ subject: { type: 'user', id } }))
    expect(await batch({ ...defaults, evaluations: subjects })).toBe(inTurn(PERMIT, DENY, DENY))
  })

  test('may bring everything itself', async () => {
    const evaluations = [
      defaults,
      evaluation('bob', 'read', 'document:d1'),
      evaluation('bob', 'read', 'document:d2'),
    ]
    expect(await batch({ evaluations })).toBe(inTurn(PERMIT, DENY, PERMIT))
  })

  test('replaces a default as a whole: properties are not merged, and neither is the context', async () => {
    await verdict.tenant('acme')
    const resource = { ...entity('document:d1'), properties: { tenant: 'acme' } }
    expect(await batch({ ...defaults, resource, evaluations: [{}, yes, { context: {} }] })).toBe(
      inTurn(DENY, PERMIT, DENY),
    )
  })

  test('with null in a place has nothing there', async () => {
    const nothing = { subject: null, action: null, resource: null, context: null }
    expect(await batch({ ...defaults, evaluations: [nothing] })).toBe(inTurn(PERMIT))
    expect(await batch({ ...nothing, evaluations: [defaults] })).toBe(inTurn(PERMIT))
  })

  test('that lacks exactly the type of its subject or resource takes that from the default', async () => {
    const evaluations = [
      { resource: { id: 'd1' } },
      { resource: { type: null, id: 'd2' }, subject: { id: 'bob' } },
      { resource: { id: 'd1' }, subject: { id: 'bob' } },
    ]
    expect(await batch({ ...defaults, evaluations })).toBe(inTurn(PERMIT, PERMIT, DENY))
  })

  test('never takes an id, a name or properties from the default', async () => {
    const withTenant = { ...defaults.resource, properties: { tenant: 'acme' } }
    const found = await items({
      ...defaults,
      resource: withTenant,
      evaluations: [
        { subject: { type: 'user' } },
        { action: { properties: {} } },
        { resource: { id: 'd1' } },
        { resource: { type: 'document' } },
      ],
    })
    // The last one is a question about the type as a whole.
    expect(found).toEqual([FAILED, FAILED, ALLOWED, { decision: false }])
  })

  test('that lacks the id of its resource as well takes nothing: it would be a question about the type as a whole', async () => {
    await verdict.users('carol')
    await verdict.tenantRole('reader', ['document:read'])
    await verdict.assign('carol', 'reader', 'default')
    const asked = { ...defaults, subject: { type: 'user', id: 'carol' } }
    const incomplete = [{}, { id: null }, { type: null }, { properties: { x: 1 } }].map(resource => ({
      resource,
    }))
    const evaluations = [...incomplete, { resource: { type: 'document' } }]
    expect(await items({ ...asked, evaluations })).toEqual([
      ...incomplete.map(() => FAILED),
      { decision: true },
    ])
  })

  test('ignores members nobody knows, options and evaluations of its own among them', async () => {
    const item = { ...yes, note: 1, options: { evaluations_semantic: 'nonsense' }, evaluations: 7, page: [] }
    expect(await batch({ ...defaults, evaluations: [item] })).toBe(inTurn(PERMIT))
  })
})

describe('a default', () => {
  test.each([{}, [], 'text', 7, { type: 1 }])('that no item inherits may be anything: %j', async resource => {
    expect(await batch({ ...defaults, resource, evaluations: [yes, no] })).toBe(inTurn(PERMIT, DENY))
  })

  test('of the wrong shape fails the items that inherit it, and only those', async () => {
    for (const name of ['subject', 'action', 'resource', 'context']) {
      const found = await items({
        ...defaults,
        [name]: 7,
        evaluations: [{}, { ...defaults, context: {} }, {}],
      })
      expect(found, name).toEqual([FAILED, ALLOWED, FAILED])
      expect(found[0]!.context!.error.message).toContain(name)
    }
  })
})

describe('an item that cannot be read', () => {
  test.each<[item: unknown, place: string]>([
    [changedAt(defaults, 'subject', undefined), 'subject'],
    [changedAt(defaults, 'subject', 'alice'), 'subject'],
    [changedAt(defaults, 'action', undefined), 'action'],
    [changedAt(defaults, 'action.name', ''), 'action.name'],
    [changedAt(defaults, 'resource', undefined), 'resource'],
    [changedAt(defaults, 'resource.id', 1), 'resource.id'],
    [changedAt(defaults, 'context', 'now'), 'context'],
    [{}, 'subject'],
    ...[null, 'item', [defaults], true].map(item => [item, 'body'] as [unknown, string]),
  ])('%j is false at its place and says why, alone or among others', async (item, place) => {
    const [alone] = await items({ evaluations: [item] })
    expect(alone).toEqual(FAILED)
    expect(alone!.context!.error.message).toContain(place)
    const among = await items({
      evaluations: [defaults, item, evaluation('bob', 'read', 'document:d1'), defaults],
    })
    expect(among).toEqual([ALLOWED, FAILED, DENIED, ALLOWED])
  })

  test('does not fail the batch, even if no item can be read', async () => {
    expect(await items({ evaluations: [1, null, {}] })).toEqual([FAILED, FAILED, FAILED])
  })
})

describe('the semantic', () => {
  const sequence = [yes, no, yes, no, yes]

  test.each([
    undefined,
    null,
    {},
    { evaluations_semantic: null },
    { evaluations_semantic: 'execute_all' },
    { other: 1 },
  ])('evaluates everything in the options %j', async options => {
    expect(await batch({ ...defaults, options, evaluations: sequence })).toBe(
      inTurn(PERMIT, DENY, PERMIT, DENY, PERMIT),
    )
  })

  const first = (evaluations_semantic: string, evaluations: readonly unknown[]) =>
    batch({ ...defaults, options: { evaluations_semantic, more: true }, evaluations })

  test('deny_on_first_deny ends with the first denial', async () => {
    expect(await first('deny_on_first_deny', [yes, yes, no, yes, no])).toBe(inTurn(PERMIT, PERMIT, DENY))
    expect(await first('deny_on_first_deny', [no, yes])).toBe(inTurn(DENY))
    expect(await first('deny_on_first_deny', [yes, yes])).toBe(inTurn(PERMIT, PERMIT))
  })

  test('permit_on_first_permit ends with the first permit', async () => {
    expect(await first('permit_on_first_permit', [no, no, yes, no, yes])).toBe(inTurn(DENY, DENY, PERMIT))
    expect(await first('permit_on_first_permit', [yes, no])).toBe(inTurn(PERMIT))
    expect(await first('permit_on_first_permit', [no, no])).toBe(inTurn(DENY, DENY))
  })

  test('takes a failed item for a denial', async () => {
    const bad = { subject: 'bad' }
    const options = (evaluations_semantic: string) => ({ options: { evaluations_semantic } })
    const denied = await items({
      ...defaults,
      ...options('deny_on_first_deny'),
      evaluations: [yes, bad, yes],
    })
    expect(denied).toEqual([ALLOWED, FAILED])
    const permitted = await items({
      ...defaults,
      ...options('permit_on_first_permit'),
      evaluations: [bad, yes, no],
    })
    expect(permitted).toEqual([FAILED, ALLOWED])
  })

  test('takes a subject of an unknown type for a denial', async () => {
    const robot = { subject: { type: 'robot', id: 'alice' } }
    expect(await first('deny_on_first_deny', [yes, robot, yes])).toBe(inTurn(PERMIT, DENY))
    expect(await first('permit_on_first_permit', [robot, yes, yes])).toBe(inTurn(DENY, PERMIT))
  })

  test.each([0, 63, 64, 128, 299])('stops at item %i, however large the batch', async index => {
    const at = (usual: object, odd: object) =>
      Array.from({ length: BULK_MAX }, (_, i) => (i === index ? odd : usual))
    expect(await first('deny_on_first_deny', at(yes, no))).toBe(
      inTurn(...Array<string>(index).fill(PERMIT), DENY),
    )
    expect(await first('permit_on_first_permit', at(no, yes))).toBe(
      inTurn(...Array<string>(index).fill(DENY), PERMIT),
    )
    const all = Array.from({ length: BULK_MAX }, (_, i) => (i === index ? PERMIT : DENY))
    expect(await first('execute_all', at(no, yes))).toBe(inTurn(...all))
    expect(await first('deny_on_first_deny', at(yes, yes))).toBe(inTurn(...all.map(() => PERMIT)))
  })

  test.each(['', 'Execute_All', 'deny_on_first_permit', 7, true, {}, ['execute_all']])(
    'is 400 when it is %j',
    async semantic => {
      const body = { ...defaults, options: { evaluations_semantic: semantic }, evaluations: sequence }
      expect(messageOf(await ask(verdict, EVALUATIONS, { body }), 400)).toContain('evaluations_semantic')
    },
  )
})

describe('a batch is 400 as a whole', () => {
  test.each([
    ['evaluations', [{}, 'text', 7, true, { 0: defaults }]],
    ['options', ['text', 7, []]],
  ])('when its %s are one of %j', async (name, values) => {
    for (const value of values) {
      const body = { ...defaults, evaluations: [{}], [name]: value }
      expect(messageOf(await ask(verdict, EVALUATIONS, { body }), 400)).toContain(name)
    }
  })

  test('when it has more items than MAX_BULK_CHECKS, in every semantic', async () => {
    for (const evaluations_semantic of ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit']) {
      const options = { evaluations_semantic }
      const evaluations = Array.from({ length: BULK_MAX + 1 }, () => no)
      const answer = await ask(verdict, EVALUATIONS, { body: { ...defaults, options, evaluations } })
      expect(messageOf(answer, 400)).toContain(String(BULK_MAX))
      expect(await items({ ...defaults, options, evaluations: evaluations.slice(1) })).not.toEqual([])
    }
  })
})
