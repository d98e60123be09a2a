/** The three searches, except their paging (authzen.md 5; native.md D-14, D-36, D-46). */
import { describe, expect, test } from 'vitest'
import {
  ACTIONS,
  ask,
  changedAt,
  entity,
  GOOD,
  lastPage,
  messageOf,
  RESOURCES_FOUND,
  SUBJECTS,
  textOf,
} from '../../support/calls/access-requests.ts'
import { sharedService } from '#testing/processes/running-service.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.resource({
  key: 'folder',
  actions: { read: {} },
  roles: { viewer: { name: 'Viewer', permissions: ['read'] } },
})
await verdict.resource({
  key: 'file',
  actions: { read: {} },
  relations: { parent: 'folder' },
  roles: {
    reader: {
      name: 'Reader',
      permissions: ['read'],
      granted_to: {
        users_with_role: [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }],
      },
    },
  },
})
await verdict.tenant('acme')
await verdict.tenantRole('reader', ['document:read'])
await verdict.users('alice', 'bob', 'carol', 'dave', 'erin')
await verdict.instance('document:a1', 'acme')
await verdict.instance('document:d3')
await verdict.assign('alice', 'viewer', 'document:d1')
await verdict.assign('alice', 'editor', 'document:d2')
await verdict.assign('alice', 'viewer', 'document:a1', 'acme')
await verdict.assign('bob', 'reader', 'default')
await verdict.assign('dave', 'reader', 'acme')
await verdict.groups('inner', 'outer')
await verdict.nest('inner', { into: 'outer' })
await verdict.join('inner', 'carol')
await verdict.grant('outer', 'editor', 'document:d1')
await verdict.assign('erin', 'viewer', 'folder:f1')
await verdict.relate('folder:f1', 'parent', 'file:x1')

const user = (id: string) => ({ type: 'user', id })

function subjects(action: string, on: string, properties?: object): Promise<string> {
  const resource = { ...entity(on), ...(properties && { properties }) }
  return textOf(verdict, SUBJECTS, { subject: { type: 'user' }, action: { name: action }, resource })
}

function resources(id: string, action: string, type: string, properties?: object): Promise<string> {
  const resource = { type, ...(properties && { properties }) }
  return textOf(verdict, RESOURCES_FOUND, { subject: user(id), action: { name: action }, resource })
}

function actions(id: string, on: string, properties?: object): Promise<string> {
  const resource = { ...entity(on), ...(properties && { properties }) }
  return textOf(verdict, ACTIONS, { subject: user(id), resource })
}

const IDS = ['alice', 'unknown', '', null, 7, {}]
const users = (...ids: readonly string[]) => lastPage(ids.map(user))
const documents = (...ids: readonly string[]) => lastPage(ids.map(id => ({ type: 'document', id })))
const names = (...all: readonly string[]) => lastPage(all.map(name => ({ name })))

describe('a subject search', () => {
  test('lists users by tenant role, direct role, nested group and derived role, in key order', async () => {
    expect(await subjects('read', 'document:d1')).toBe(users('alice', 'bob', 'carol'))
    expect(await subjects('update', 'document:d1')).toBe(users('carol'))
    expect(await subjects('read', 'document:d3')).toBe(users('bob'))
    expect(await subjects('read', 'file:x1')).toBe(users('erin'))
    expect(await subjects('update', 'document:d3')).toBe(users())
  })

  test('returns the requested subject type, and is empty for unknown subject types', async () => {
    const ofType = (type: string) => textOf(verdict, SUBJECTS, { ...GOOD[SUBJECTS], subject: { type } })
    expect(await ofType('identity')).toBe(
      lastPage(['alice', 'bob', 'carol'].map(id => ({ type: 'identity', id }))),
    )
    for (const type of ['robot', 'group', 'document', 'unknown-type'])
      expect(await ofType(type)).toBe(users())
  })

  test('in a tenant lists the users that an evaluation there allows (native.md D-14, D-36)', async () => {
    expect(await subjects('read', 'document:a1')).toBe(users('alice', 'dave'))
    expect(await subjects('read', 'document:a1', { tenant: 'acme' })).toBe(users('alice', 'dave'))
    expect(await subjects('read', 'document:a1', { tenant: 'default' })).toBe(users())
    expect(await subjects('read', 'document:unknown')).toBe(users('bob'))
    expect(await subjects('read', 'document:unknown', { tenant: 'acme' })).toBe(users('dave'))
    expect(await subjects('read', 'document:unknown', { tenant: 'nowhere' })).toBe(users())
    expect(await subjects('update', 'document:unknown')).toBe(users())
  })
})

describe('a resource search', () => {
  test('lists the resources of one type that direct, derived and group roles allow', async () => {
    expect(await resources('alice', 'read', 'document')).toBe(documents('a1', 'd1', 'd2'))
    expect(await resources('alice', 'update', 'document')).toBe(documents('d2'))
    expect(await resources('carol', 'update', 'document')).toBe(documents('d1'))
    expect(await resources('erin', 'read', 'file')).toBe(lastPage([entity('file:x1')]))
    expect(await resources('erin', 'read', 'document')).toBe(documents())
  })

  test('with a tenant lists only the resources in it', async () => {
    expect(await resources('alice', 'read', 'document', { tenant: 'acme' })).toBe(documents('a1'))
    expect(await resources('alice', 'read', 'document', { tenant: 'default' })).toBe(documents('d1', 'd2'))
    expect(await resources('bob', 'read', 'document', { tenant: 'acme' })).toBe(documents())
    expect(await resources('alice', 'read', 'document', { tenant: 'nowhere' })).toBe(documents())
    for (const tenant of [null, 7, ['acme']]) {
      expect(await resources('alice', 'read', 'document', { tenant })).toBe(documents('a1', 'd1', 'd2'))
    }
  })
})

test('an action search lists the names of allowed actions in order', async () => {
  expect(await actions('alice', 'document:d2')).toBe(names('read', 'update'))
  expect(await actions('alice', 'document:d1')).toBe(names('read'))
  expect(await actions('carol', 'document:d1')).toBe(names('read', 'update'))
  expect(await actions('bob', 'document:d3')).toBe(names('read'))
  expect(await actions('erin', 'file:x1')).toBe(names('read'))
  expect(await actions('alice', 'document:d3')).toBe(names())
})

test.each<[path: keyof typeof GOOD, ignored: readonly object[], found: string]>([
  [SUBJECTS, IDS.map(id => ({ subject: { type: 'user', id } })), users('alice', 'bob', 'carol')],
  [RESOURCES_FOUND, IDS.map(id => ({ resource: { type: 'document', id } })), documents('a1', 'd1', 'd2')],
  [ACTIONS, [{ name: 'update' }, {}, null, 7, { name: 7 }].map(action => ({ action })), names('read')],
])('%s ignores an id or name of the entities it searches for', async (path, ignored, found) => {
  for (const more of ignored)
    expect(await textOf(verdict, path, { ...GOOD[path], ...more }), JSON.stringify(more)).toBe(found)
})

test.each<[path: keyof typeof GOOD, place: string, values: readonly unknown[]]>([
  [SUBJECTS, 'subject', [undefined, 'user']],
  [SUBJECTS, 'subject.type', [undefined, '', 7]],
  [SUBJECTS, 'action', [undefined]],
  [SUBJECTS, 'action.name', [undefined]],
  [SUBJECTS, 'resource', [undefined]],
  [SUBJECTS, 'resource.type', [undefined]],
  [SUBJECTS, 'resource.id', [undefined, null, '']],
  [SUBJECTS, 'context', ['now']],
  [RESOURCES_FOUND, 'subject', [undefined]],
  [RESOURCES_FOUND, 'subject.id', [undefined, null, '']],
  [RESOURCES_FOUND, 'subject.type', [undefined]],
  [RESOURCES_FOUND, 'action', [undefined, null]],
  [RESOURCES_FOUND, 'resource', [undefined]],
  [RESOURCES_FOUND, 'resource.type', [undefined, null]],
  [RESOURCES_FOUND, 'context', [[]]],
  [ACTIONS, 'subject', [undefined]],
  [ACTIONS, 'subject.id', [undefined]],
  [ACTIONS, 'resource', [undefined]],
  [ACTIONS, 'resource.id', [undefined]],
  [ACTIONS, 'resource.type', [undefined]],
  [ACTIONS, 'page', ['first', []]],
])(
  '%s with a wrong %s (%j) is rejected with 400 and the position of the fault',
  async (path, place, values) => {
    for (const value of values) {
      const body = changedAt(GOOD[path], place, value)
      expect(messageOf(await ask(verdict, path, { body }), 400), JSON.stringify(value)).toContain(place)
    }
  },
)

test('results are in the order of UTF-8 bytes, and their members are in the specified order', async () => {
  const ids = ['A', 'a', 'a:b', 'é', '鍵', '\uffee', '😀']
  await verdict.user('orderly')
  for (const id of ids.toReversed()) await verdict.assign('orderly', 'viewer', `folder:${id}`)
  const results = ids.map(id => `{"type":"folder","id":${JSON.stringify(id)}}`)
  const page = `{"next_token":"","count":${ids.length},"total":${ids.length}}`
  expect(await resources('orderly', 'read', 'folder')).toBe(`{"page":${page},"results":[${results.join()}]}`)
})
