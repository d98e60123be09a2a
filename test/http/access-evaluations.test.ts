/** Batches of evaluations: defaults, the three semantics, failed items (authzen.md section 4). */
import { describe, expect, test } from 'vitest'
import { BATCH_MAX } from '#engine/shared-index/check/key-column.ts'
import {
  ask,
  DENY,
  entity,
  evaluation,
  EVALUATIONS,
  messageOf,
  PERMIT,
  textOf,
} from '../support/access-requests.ts'
import { sharedService, startedService } from '#testing/processes/running-service.ts'

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
    expect(found).toEqual([FAILED, FAILED, { decision: true }, { decision: false }])
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
      expect(found, name).toEqual([FAILED, { decision: true }, FAILED])
      expect(found[0]!.context!.error.message).toContain(name)
    }
  })
})

describe('an item that cannot be read', () => {
  test.each([
    ['without a subject', { action: { name: 'read' }, ...yes }, 'subject'],
    ['without an action', { subject: defaults.subject, ...yes }, 'action'],
    ['without a resource', { subject: defaults.subject, action: { name: 'read' } }, 'resource'],
    ['with nothing', {}, 'subject'],
    ['with a text as subject', { ...defaults, subject: 'alice' }, 'subject'],
    ['with an empty action name', { ...defaults, action: { name: '' } }, 'action.name'],
    ['with a number as resource id', { ...defaults, resource: { type: 'document', id: 1 } }, 'resource.id'],
    ['with a text as context', { ...defaults, context: 'now' }, 'context'],
    ['that is null', null, 'body'],
    ['that is a text', 'item', 'body'],
    ['that is an array', [defaults], 'body'],
    ['that is true', true, 'body'],
  ])('%s is false at its place and says why, alone or among others', async (_about, item, place) => {
    const [alone] = await items({ evaluations: [item] })
    expect(alone).toEqual(FAILED)
    expect(alone!.context!.error.message).toContain(place)
    const among = await items({
      evaluations: [defaults, item, evaluation('bob', 'read', 'document:d1'), defaults],
    })
    expect(among).toEqual([{ decision: true }, FAILED, { decision: false }, { decision: true }])
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
    expect(denied).toEqual([{ decision: true }, FAILED])
    const permitted = await items({
      ...defaults,
      ...options('permit_on_first_permit'),
      evaluations: [bad, yes, no],
    })
    expect(permitted).toEqual([FAILED, { decision: true }])
  })

  test('takes a subject of an unknown type for a denial', async () => {
    const robot = { subject: { type: 'robot', id: 'alice' } }
    expect(await first('deny_on_first_deny', [yes, robot, yes])).toBe(inTurn(PERMIT, DENY))
    expect(await first('permit_on_first_permit', [robot, yes, yes])).toBe(inTurn(DENY, PERMIT))
  })

  test.each([0, 1, 62, 63, 64, 65, 127, 128, 129, 255, 299])(
    'stops at item %i, however large the batch',
    async index => {
      const at = (usual: object, odd: object) =>
        Array.from({ length: BULK_MAX }, (_, i) => (i === index ? odd : usual))
      expect(await first('deny_on_first_deny', at(yes, no))).toBe(
        inTurn(...Array<string>(index).fill(PERMIT), DENY),
      )
      expect(await first('permit_on_first_permit', at(no, yes))).toBe(
        inTurn(...Array<string>(index).fill(DENY), PERMIT),
      )
      const all = at(DENY as never, PERMIT as never) as unknown as string[]
      expect(await first('execute_all', at(no, yes))).toBe(inTurn(...all))
    },
  )

  test.each([64, 128, 200, BULK_MAX])(
    'is answered in full length where nothing stops it, for %i items',
    async length => {
      const each = (item: object) => Array.from({ length }, () => item)
      expect(await first('deny_on_first_deny', each(yes))).toBe(inTurn(...Array<string>(length).fill(PERMIT)))
      expect(await first('permit_on_first_permit', each(no))).toBe(
        inTurn(...Array<string>(length).fill(DENY)),
      )
    },
  )

  test.each(['', 'Execute_All', 'deny_on_first_permit', 7, true, {}, ['execute_all']])(
    'is 400 when it is %j',
    async semantic => {
      const body = { ...defaults, options: { evaluations_semantic: semantic }, evaluations: sequence }
      expect(messageOf(await ask(verdict, EVALUATIONS, { body }), 400)).toContain('evaluations_semantic')
    },
  )
})

describe('a batch is 400 as a whole', () => {
  test.each([{}, 'text', 7, true, { 0: defaults }])('when its evaluations are %j', async evaluations => {
    const answer = await ask(verdict, EVALUATIONS, { body: { ...defaults, evaluations } })
    expect(messageOf(answer, 400)).toContain('evaluations')
  })

  test.each(['text', 7, []])('when its options are %j', async options => {
    const answer = await ask(verdict, EVALUATIONS, { body: { ...defaults, options, evaluations: [{}] } })
    expect(messageOf(answer, 400)).toContain('options')
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

describe('what items inherit costs what it takes to read it once', () => {
  const LONG = 'x'.repeat(1_000_000)
  const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, index]))
  const alice = entity('user:alice')
  /** Escaped, so that the body is none that is read from its bytes. */
  const spellings = [
    ['from its bytes', {}],
    ['as JSON', { 'line\nend': 1 }],
  ] as const
  const bodies = [
    ['a long subject id', { subject: { type: 'user', id: LONG } }, DENIED],
    ['a long resource id', { resource: { type: 'document', id: LONG } }, DENIED],
    ['a long resource type', { resource: { type: LONG, id: 'd1' } }, DENIED],
    ['a long action', { action: { name: LONG } }, DENIED],
    ['a long tenant', { resource: { ...defaults.resource, properties: { tenant: LONG } } }, DENIED],
    ['a wide context', { context: wide }, ALLOWED],
    ['a wide context beside a bad action', { context: wide, action: { name: 5 } }, FAILED],
    ['wide properties of the subject', { subject: { ...alice, properties: wide } }, ALLOWED],
    ['a subject without id, and with much else', { subject: { type: 'user', ...wide } }, FAILED],
    ['a deep tenant', { resource: { ...defaults.resource, properties: { tenant: wide } } }, ALLOWED],
  ] as const

  test.each(
    spellings.flatMap(([way, more]) =>
      bodies.map(([about, own, item]) => [about, way, { ...more, ...own }, item] as const),
    ),
  )('%s, read %s', async (_about, _way, own, item) => {
    const body = {
      ...defaults,
      ...own,
      evaluations: Array.from({ length: BULK_MAX }, (_, n) => ({ [`x${n}`]: 0 })),
    }
    expect(await items(body)).toEqual(Array(BULK_MAX).fill(item))
  })
})

test('a batch whose items all fail is 200', async () => {
  expect(await items({ evaluations: [1, null, {}] })).toEqual([FAILED, FAILED, FAILED])
})

test('a batch of up to 128 is answered at one state while facts change', async () => {
  const service = await startedService()
  await service.createDocumentModel()
  await service.user('alice')
  await service.group('team')
  await service.grant('team', 'viewer', 'document:d1')
  const body = { ...defaults, evaluations: Array.from({ length: BATCH_MAX }, () => ({})) }
  const write = async () => {
    for (let round = 0; round < 30; round += 1) {
      await service.join('team', 'alice')
      await service.leave('team', 'alice')
    }
  }
  const read = async () => {
    for (let round = 0; round < 60; round += 1) {
      const { evaluations } = JSON.parse(await textOf(service, EVALUATIONS, body))
      expect(new Set(evaluations.map(({ decision }: Item) => decision)).size).toBe(1)
    }
  }
  await Promise.all([write(), read()])
})
