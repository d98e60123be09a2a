/** Key completions read few rows in a large environment. The tests count rows instead of time. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { recordFrom } from '#entities/entity.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { completeKeys } from '#management/facts/key-completions.ts'
import { COMPLETION_RESOURCES_MAX, COMPLETION_ROWS_MAX } from '#model/limits.ts'
import type { StoredRecord } from '#entities/records.ts'
import type { KeyCompletionsQuery } from '#entities/key-completion.ts'
import { USER } from '#entities/user.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import type { View } from '#store/view.ts'
import { RowLoader } from '#testing/processes/row-loader.ts'
import { countedView } from '../support/counted-view.ts'
import { scope } from '../support/environment-service.ts'

const USERS = 2_000
const times = { createdAt: 0, updatedAt: 0 }

const named = { key: 't', name: 'T', description: null, attributes: null }
const tenant = { kind: 'tenant', id: randomUUID(), ...named, ...times } as const

async function storeOf(records: Iterable<StoredRecord>) {
  const store = await openStore('memory:', listRule)
  const { ledger, view } = await store.environment('completed')
  const loader = new RowLoader(ledger)
  for (const record of records) await loader.add(record)
  await loader.flush()
  return { view, close: () => store.close() }
}

function ask(view: View, query: KeyCompletionsQuery) {
  const { counted, counts } = countedView(view)
  const context = { scope, now: 0, newId: () => randomUUID(), records: new RecordReader(counted) }
  const { data, has_more } = completeKeys(context, { query })
  return {
    keys: data.map(({ key }) => key),
    hasMore: has_more,
    rows: counts.prefixed,
    beginnings: counts.prefixes,
  }
}

function typeRecord(key: string) {
  const texts = { name: key, urn: null, description: null }
  const parts = { actions: [], attributes: [], typeAttributes: null, actionGroups: [] }
  return { kind: 'type', id: randomUUID(), key, ...texts, ...parts, ...times } as const
}

function instance(typeId: string, key: string, { isGroup = false, attributes = {} } = {}) {
  const rest = { tenantId: tenant.id, attributes, isGroup, ...times }
  return { kind: 'instance', id: randomUUID(), typeId, key, ...rest } as const
}

const numbered = (count: number, start: string) =>
  Array.from({ length: count }, (_, n) => `${start}${String(n).padStart(5, '0')}`)

describe('key completion in a large environment', () => {
  const [plain, mixed, teams, large] = ['a-plain', 'b-mixed', 'c-teams', 'd-large'].map(typeRecord)
  let view: View

  beforeAll(async () => {
    const profile = recordFrom(USER, {})
    const opened = await storeOf([
      tenant,
      plain!,
      mixed!,
      teams!,
      large!,
      ...numbered(USERS, 'u').map(
        key => ({ kind: 'user', id: randomUUID(), key, ...profile, ...times }) as const,
      ),
      ...numbered(COMPLETION_ROWS_MAX * 2, 'x').map(key => instance(plain!.id, key)),
      ...numbered(COMPLETION_ROWS_MAX * 2, 'x').map(key => instance(mixed!.id, key)),
      instance(mixed!.id, 'x-first', { isGroup: true }),
      instance(mixed!.id, 'y-last', { isGroup: true }),
      ...numbered(30, 'y').map(key => instance(teams!.id, key, { isGroup: true })),
      ...numbered(100, 'z').map(key =>
        instance(large!.id, key, { attributes: { text: 'x'.repeat(60_000) } }),
      ),
    ])
    view = opened.view
    return opened.close
  })

  test('reads one user more than the limit of the page', () => {
    expect(ask(view, { kind: 'user', prefix: 'u01', limit: 50 })).toEqual({
      keys: numbered(USERS, 'u')
        .filter(key => key.startsWith('u01'))
        .slice(0, 50),
      hasMore: true,
      rows: 51,
      beginnings: 1,
    })
    expect(ask(view, { kind: 'user', prefix: 'u01777' })).toMatchObject({
      keys: ['u01777'],
      hasMore: false,
      rows: 1,
    })
    expect(ask(view, { kind: 'user', prefix: 'nobody' })).toMatchObject({ keys: [], hasMore: false, rows: 0 })
  })

  test('reads the first instance of each type, and one more instance per result', () => {
    const { keys, hasMore, rows } = ask(view, { kind: 'resource_instance', prefix: 'x0000', limit: 4 })
    expect(keys).toEqual(['x00000', 'x00000', 'x00001', 'x00001'])
    expect(hasMore).toBe(true)
    // Rows: four types, the first instance of two types, and the next instance after each of four results.
    expect(rows).toBe(4 + 2 + 4)
  })

  test('skips types without groups when it completes groups', () => {
    expect(ask(view, { kind: 'group', prefix: 'y' }).keys).toEqual(['y-last', ...numbered(19, 'y')])
    expect(ask(view, { kind: 'group', prefix: 'x', resource: plain!.key })).toMatchObject({
      keys: [],
      rows: expect.any(Number),
    })
  })

  test('reports that there can be more groups when it has reached the limit of rows', () => {
    const found = ask(view, { kind: 'group', prefix: 'x', resource: mixed!.key })
    expect(found).toMatchObject({ keys: ['x-first'], hasMore: true })
    expect(found.rows).toBeLessThanOrEqual(COMPLETION_ROWS_MAX + 1)
  })

  test('counts large rows as several rows', () => {
    const found = ask(view, { kind: 'resource_instance', prefix: 'z', limit: 100 })
    expect(found.hasMore).toBe(true)
    expect(found.keys).toEqual(numbered(100, 'z').slice(0, found.keys.length))
    expect(found.keys.length).toBe(Math.ceil(COMPLETION_ROWS_MAX / 59))
  })
})

test('key completion reads instances of a limited number of resources, and reports that there can be more', async () => {
  const types = numbered(COMPLETION_RESOURCES_MAX + 5, 'type').map(typeRecord)
  const instances = types.map(({ id, key }) => instance(id, `of-${key}`))
  const { view, close } = await storeOf([tenant, ...types, ...instances])
  const found = ask(view, { kind: 'resource_instance', prefix: 'of-', limit: 100 })
  expect(found.keys).toEqual(instances.slice(0, 100).map(({ key }) => key))
  expect(found.beginnings).toBe(COMPLETION_RESOURCES_MAX + 1)
  const last = instances.at(-1)!.key
  expect(ask(view, { kind: 'resource_instance', prefix: last })).toMatchObject({ keys: [], hasMore: true })
  expect(ask(view, { kind: 'resource_instance', prefix: last, resource: types.at(-1)!.key }).keys).toEqual([
    last,
  ])
  await close()
})

test('key completion skips instances of a deleted tenant before they are purged', async () => {
  const type = typeRecord('document')
  const gone = { ...tenant, id: randomUUID(), key: 'gone' }
  const left = { ...instance(type.id, 'a-left'), tenantId: gone.id }
  const purge = { kind: 'purge', id: randomUUID(), deadIds: [gone.id], lists: [] } as const
  const { view, close } = await storeOf([tenant, type, left, instance(type.id, 'a-live'), purge])
  expect(ask(view, { kind: 'resource_instance', prefix: 'a-' }).keys).toEqual(['a-live'])
  await close()
})
