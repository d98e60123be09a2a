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
} from '../../support/calls/access-requests.ts'
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
const no = on('document:unknown')

function batch(body: unknown): Promise<string> {
  return textOf(verdict, EVALUATIONS, body)
}

function batchOf(...decisions: readonly string[]): string {
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
  ])('is a single evaluation of the top-level members if the list of items is %s', async (_about, none) => {
    expect(await batch({ ...defaults, ...none })).toBe(PERMIT)
    expect(await batch({ ...evaluation('bob', 'read', 'document:d1'), ...none })).toBe(DENY)
    const options = { evaluations_semantic: 'deny_on_first_deny' }
    expect(await batch({ ...defaults, ...none, options })).toBe(PERMIT)
    for (const missing of ['subject', 'action', 'resource']) {
      const body = { ...defaults, [missing]: undefined, ...none }
      expect(messageOf(await ask(verdict, EVALUATIONS, { body }), 400)).toContain(missing)
    }
  })

  test('can check a resource type', async () => {
    expect(await batch({ ...defaults, resource: { type: 'document' } })).toBe(DENY)
  })
})

describe('an item of a batch', () => {
  test('uses its own members, and the defaults for missing members', async () => {
    const evaluations = [{}, update, on('document:d2'), { ...update, ...on('document:d2') }]
    expect(await batch({ ...defaults, evaluations })).toBe(batchOf(PERMIT, PERMIT, PERMIT, DENY))
    const subjects = ['alice', 'bob', 'stranger'].map(id => ({ subject: { type: 'user', id } }))
    expect(await batch({ ...defaults, evaluations: subjects })).toBe(batchOf(PERMIT, DENY, DENY))
  })

  test('can have all members without any default', async () => {
    const ofBob = ['document:d1', 'document:d2'].map(document => evaluation('bob', 'read', document))
    expect(await batch({ evaluations: [defaults, ...ofBob] })).toBe(batchOf(PERMIT, DENY, PERMIT))
  })

  test('replaces whole default members: neither properties nor the context are merged', async () => {
    await verdict.tenant('acme')
    const resource = { ...entity('document:d1'), properties: { tenant: 'acme' } }
    expect(await batch({ ...defaults, resource, evaluations: [{}, yes, { context: {} }] })).toBe(
      batchOf(DENY, PERMIT, DENY),
    )
  })

  test('treats null members as absent', async () => {
    const nothing = { subject: null, action: null, resource: null, context: null }
    expect(await batch({ ...defaults, evaluations: [nothing] })).toBe(batchOf(PERMIT))
    expect(await batch({ ...nothing, evaluations: [defaults] })).toBe(batchOf(PERMIT))
  })

  test('inherits the type of its subject or resource if only the type is missing', async () => {
    const evaluations = [
      { resource: { id: 'd1' } },
      { resource: { type: null, id: 'd2' }, subject: { id: 'bob' } },
      { resource: { id: 'd1' }, subject: { id: 'bob' } },
    ]
    expect(await batch({ ...defaults, evaluations })).toBe(batchOf(PERMIT, PERMIT, DENY))
  })

  test('never inherits an id, a name or properties into its own subject, action or resource', async () => {
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
    // The last item checks the resource type.
    expect(found).toEqual([FAILED, FAILED, ALLOWED, DENIED])
  })

  test('fails if both type and id of its resource are missing, and never becomes a check of the type', async () => {
    await verdict.users('carol')
    await verdict.tenantRole('reader', ['document:read'])
    await verdict.assign('carol', 'reader', 'default')
    const incomplete = [{}, { id: null }, { type: null }, { properties: { x: 1 } }]
    const evaluations = [...incomplete, { type: 'document' }].map(resource => ({ resource }))
    const found = await items({ ...defaults, subject: { type: 'user', id: 'carol' }, evaluations })
    expect(found).toEqual([FAILED, FAILED, FAILED, FAILED, ALLOWED])
  })

  test('ignores unknown members, including `options` and `evaluations`', async () => {
    const item = { ...yes, note: 1, options: { evaluations_semantic: 'nonsense' }, evaluations: 7, page: [] }
    expect(await batch({ ...defaults, evaluations: [item] })).toBe(batchOf(PERMIT))
  })
})

describe('a default of a batch', () => {
  test.each([{}, [], 'text', 7, { type: 1 }])(
    'that no item inherits can be any value: %j',
    async resource => {
      expect(await batch({ ...defaults, resource, evaluations: [yes, no] })).toBe(batchOf(PERMIT, DENY))
    },
  )

  test('with a wrong shape fails only the items that inherit it', async () => {
    for (const name of ['subject', 'action', 'resource', 'context']) {
      const evaluations = [{}, { ...defaults, context: {} }, {}]
      const found = await items({ ...defaults, [name]: 7, evaluations })
      expect(found, name).toEqual([FAILED, ALLOWED, FAILED])
      expect(found[0]!.context!.error.message).toContain(name)
    }
  })
})

describe('an invalid item of a batch', () => {
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
  ])('is denied at its position with the reason, alone and among other items: %j', async (item, place) => {
    const [alone] = await items({ evaluations: [item] })
    expect(alone).toEqual(FAILED)
    expect(alone!.context!.error.message).toContain(place)
    const evaluations = [defaults, item, evaluation('bob', 'read', 'document:d1'), defaults]
    expect(await items({ evaluations })).toEqual([ALLOWED, FAILED, DENIED, ALLOWED])
  })

  test('does not fail the batch, even if all items are invalid', async () => {
    expect(await items({ evaluations: [1, null, {}] })).toEqual([FAILED, FAILED, FAILED])
  })
})

describe('the semantic of a batch', () => {
  const sequence = [yes, no, yes, no, yes]

  test.each([
    undefined,
    null,
    {},
    { evaluations_semantic: null },
    { evaluations_semantic: 'execute_all' },
    { other: 1 },
  ])('is to evaluate all items if the options are %j', async options => {
    expect(await batch({ ...defaults, options, evaluations: sequence })).toBe(
      batchOf(PERMIT, DENY, PERMIT, DENY, PERMIT),
    )
  })

  const first = (evaluations_semantic: string, evaluations: readonly unknown[]) =>
    batch({ ...defaults, options: { evaluations_semantic, more: true }, evaluations })

  test('deny_on_first_deny stops at the first deny', async () => {
    expect(await first('deny_on_first_deny', [yes, yes, no, yes, no])).toBe(batchOf(PERMIT, PERMIT, DENY))
    expect(await first('deny_on_first_deny', [no, yes])).toBe(batchOf(DENY))
    expect(await first('deny_on_first_deny', [yes, yes])).toBe(batchOf(PERMIT, PERMIT))
  })

  test('permit_on_first_permit stops at the first permit', async () => {
    expect(await first('permit_on_first_permit', [no, no, yes, no, yes])).toBe(batchOf(DENY, DENY, PERMIT))
    expect(await first('permit_on_first_permit', [yes, no])).toBe(batchOf(PERMIT))
    expect(await first('permit_on_first_permit', [no, no])).toBe(batchOf(DENY, DENY))
  })

  test.each([
    ['deny_on_first_deny', [yes, { subject: 'bad' }, yes], [ALLOWED, FAILED]],
    ['permit_on_first_permit', [{ subject: 'bad' }, yes, no], [FAILED, ALLOWED]],
  ])('%s treats a failed item as a deny', async (evaluations_semantic, evaluations, expected) => {
    expect(await items({ ...defaults, options: { evaluations_semantic }, evaluations })).toEqual(expected)
  })

  test('treats a subject of an unknown type as a deny', async () => {
    const robot = { subject: { type: 'robot', id: 'alice' } }
    expect(await first('deny_on_first_deny', [yes, robot, yes])).toBe(batchOf(PERMIT, DENY))
    expect(await first('permit_on_first_permit', [robot, yes, yes])).toBe(batchOf(DENY, PERMIT))
  })

  test.each([0, 63, 64, 128, 299])('stops at item %i of a large batch', async index => {
    const at = (usual: object, odd: object) =>
      Array.from({ length: BULK_MAX }, (_, i) => (i === index ? odd : usual))
    expect(await first('deny_on_first_deny', at(yes, no))).toBe(
      batchOf(...Array<string>(index).fill(PERMIT), DENY),
    )
    expect(await first('permit_on_first_permit', at(no, yes))).toBe(
      batchOf(...Array<string>(index).fill(DENY), PERMIT),
    )
    const all = Array.from({ length: BULK_MAX }, (_, i) => (i === index ? PERMIT : DENY))
    expect(await first('execute_all', at(no, yes))).toBe(batchOf(...all))
    expect(await first('deny_on_first_deny', at(yes, yes))).toBe(batchOf(...all.map(() => PERMIT)))
  })

  test.each(['', 'Execute_All', 'deny_on_first_permit', 7, true, {}, ['execute_all']])(
    'is rejected with 400 if it is %j',
    async semantic => {
      const body = { ...defaults, options: { evaluations_semantic: semantic }, evaluations: sequence }
      expect(messageOf(await ask(verdict, EVALUATIONS, { body }), 400)).toContain('evaluations_semantic')
    },
  )
})

describe('an invalid batch', () => {
  test.each([
    ['evaluations', [{}, 'text', 7, true, { 0: defaults }]],
    ['options', ['text', 7, []]],
  ])('is rejected with 400 if its %s are one of %j', async (name, values) => {
    for (const value of values) {
      const body = { ...defaults, evaluations: [{}], [name]: value }
      expect(messageOf(await ask(verdict, EVALUATIONS, { body }), 400)).toContain(name)
    }
  })

  test('is rejected with 400 if it has more items than MAX_BULK_CHECKS, with every semantic', async () => {
    for (const evaluations_semantic of ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit']) {
      const options = { evaluations_semantic }
      const evaluations = Array.from({ length: BULK_MAX + 1 }, () => no)
      const answer = await ask(verdict, EVALUATIONS, { body: { ...defaults, options, evaluations } })
      expect(messageOf(answer, 400)).toContain(String(BULK_MAX))
      expect(await items({ ...defaults, options, evaluations: evaluations.slice(1) })).not.toEqual([])
    }
  })
})
