/** Reads in slices. Despite reads and writes between the slices, each read is consistent with one state. */
import { expect, test } from 'vitest'
import type { InstanceRoles, ResultSink, TenantRoles } from '#engine/engine.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import {
  viewerBelow,
  assign,
  assignInTenant,
  heldBy,
  instance,
  link,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { searchResources, searchUsers } from '#testing/engines/listed.ts'

const ANY = { tenants: null, types: null, accepts: null }
/** More entries than one slice, but few enough to be read with the lock. */
const SHORT = 500
const COUNT = 2_000
/** Far more entries than are read with the lock. */
const LONG = 10_000

function newEngine(count = COUNT): SharedEngine {
  return SharedEngine.with([
    tenant('default'),
    user('alice'),
    user('bob'),
    resourceType('document', 'read'),
    role('document', 'viewer', { can: ['read'] }),
    ...Array.from({ length: count }, (_, n) => [
      instance(`document:${n}`),
      assign('alice', 'viewer', `document:${n}`),
    ]).flat(),
  ])
}

class Keys implements ResultSink<InstanceRoles> {
  begun = 0
  taken = 0
  keys = new Set<string>()

  begin(): void {
    this.begun += 1
    this.keys = new Set()
  }

  take({ instance: { key } }: InstanceRoles): boolean {
    this.taken += 1
    this.keys.add(key)
    return true
  }
}

/** Grants and revokes in one commit, so that alice can see exactly one of every two documents. */
function flip(engine: SharedEngine, turn: number, count = COUNT): void {
  engine.apply(
    Array.from({ length: count }, (_, n) => {
      const given = assign('alice', 'viewer', `document:${n}`)
      return n % 2 === turn % 2 ? given : removed(given)
    }),
  )
}

test('a list that is interrupted by one write restarts, and returns the later state', () => {
  const engine = newEngine()
  const found = new Keys()
  const reading = engine.instanceRolesOf('alice', ANY, COUNT, found)
  for (let slices = 0; slices < 5; slices++) expect(reading.next().done).toBe(false)
  flip(engine, 0)
  runAtOnce(reading)
  expect(found.begun).toBe(2)
  expect([...found.keys].filter(key => Number(key) % 2 === 1)).toEqual([])
  expect(found.keys.size).toBe(COUNT / 2)
})

test('a role that moves from an instance to a tenant is in one of the two lists', () => {
  const engine = newEngine(SHORT)
  const onInstance = assign('alice', 'viewer', 'document:moved')
  engine.apply([tenantRole('reader'), instance('document:moved'), onInstance])
  const found = new Keys()
  const tenants = new Set<string>()
  const results = {
    begin: () => tenants.clear(),
    take: (entry: TenantRoles) => tenants.add(entry.tenant).size > 0,
  }
  const ofTenants = { accepts: null, limit: COUNT, results }
  const reading = engine.rolesOf('alice', ofTenants, { filter: ANY, limit: COUNT, results: found })
  expect(reading.next().done).toBe(false)
  engine.apply([removed(onInstance), assignInTenant('alice', 'reader', 'default')])
  runAtOnce(reading)
  expect([[...tenants], found.keys.has('moved')]).toEqual([['default'], false])
})

test('a short list ends despite continuous writes and returns one state', () => {
  const engine = newEngine(SHORT)
  const found = new Keys()
  const reading = engine.instanceRolesOf('alice', ANY, SHORT, found)
  let turn = 0
  while (!reading.next().done) flip(engine, turn++, SHORT)
  const parities = new Set([...found.keys].map(key => Number(key) % 2))
  expect([found.keys.size, parities.size]).toEqual([SHORT / 2, 1])
})

test('a long list never blocks writers during continuous writes, and fails as overloaded after several restarts', () => {
  const engine = newEngine(LONG)
  const found = new Keys()
  const reading = engine.instanceRolesOf('alice', ANY, LONG, found)
  let mostAtOnce = 0
  let turn = 0
  const read = () => {
    for (;;) {
      const before = found.taken
      const step = reading.next()
      mostAtOnce = Math.max(mostAtOnce, found.taken - before)
      if (step.done) return
      flip(engine, turn++, LONG)
    }
  }
  expect(read).toThrow(expect.objectContaining({ code: 'OVERLOADED', limit: 'list' }))
  expect(found.begun).toBeGreaterThan(10)
  expect(found.begun).toBeLessThan(40)
  // No attempt reads more than a part of the list with the lock.
  expect(mostAtOnce).toBeLessThan(LONG / 4)
})

test('a search never blocks writers during continuous writes, and fails as overloaded', () => {
  const engine = newEngine(SHORT)
  const { header } = engine.writer.handle
  const words = new Int32Array(header)
  let turn = 0
  let wasLocked = false
  // A write takes place at the end of each attempt.
  const page = {
    after: null,
    triedMax: 100,
    get limit() {
      wasLocked ||= words[L.H_LOCK] !== 0
      if (!wasLocked) flip(engine, turn++, SHORT)
      return 1
    },
  }
  const ofAlice = { user: 'alice', action: 'read', type: 'document', tenant: null }
  const tooFast = expect.objectContaining({ code: 'OVERLOADED', limit: 'list' })
  expect(() => runAtOnce(engine.searchResources(ofAlice, page))).toThrow(tooFast)
  expect(() => runAtOnce(engine.searchUsers({ ...ofAlice, key: '1' }, page))).toThrow(tooFast)
  expect([wasLocked, turn > 10]).toEqual([false, true])
})

test('other queries between two slices do not affect the list or each other', () => {
  const engine = newEngine()
  const found = new Keys()
  const reading = engine.instanceRolesOf('alice', ANY, COUNT, found)
  const asked = { type: 'document', key: '7', tenant: null }
  while (!reading.next().done) {
    expect(engine.evaluate({ user: 'bob', action: 'read', ...asked })).toBe(false)
    expect(runAtOnce(engine.searchActions({ user: 'alice', ...asked }))).toEqual(['read'])
    const page = { after: null, limit: 1 }
    expect(searchUsers(engine, { action: 'read', ...asked }, page).keys).toEqual(['alice'])
  }
  expect([found.begun, found.keys.size]).toEqual([1, COUNT])
})

test('the roles held on an instance are found by one walk, regardless of the number of roles of its type', () => {
  const roles = Array.from({ length: 300 }, (_, n) => `role-${n}`)
  const folders = Array.from({ length: 1_000 }, (_, n) => `folder:${n}`)
  const engine = SharedEngine.with([
    tenant('default'),
    user('alice'),
    resourceType('folder', 'read'),
    relation('folder', 'parent', 'folder'),
    viewerBelow('folder', 'read'),
    resourceType('paper', 'read'),
    relation('paper', 'parent', 'folder'),
    ...roles.map(key =>
      role('paper', key, { can: ['read'], from: [heldBy({ role: 'viewer', on: 'folder', over: 'parent' })] }),
    ),
    ...folders.map(name => instance(name)),
    ...folders.slice(1).map((name, n) => link(folders[n]!, 'parent', name)),
    instance('paper:deep'),
    link(folders.at(-1)!, 'parent', 'paper:deep'),
    assign('alice', 'viewer', folders[0]!),
  ])
  const question = { user: 'alice', action: 'read', type: 'paper', key: 'deep', tenant: null }
  const { steps, instanceRoles, isCutShort, path } = runAtOnce(engine.explain(question, EXPLAIN_STEPS_MAX))
  expect(isCutShort).toBe(false)
  expect([instanceRoles.held.length, path.length]).toEqual([roles.length, 1 + folders.length])
  // The walk takes some steps for each folder and each role, not for each pair of them.
  expect(steps).toBeLessThan(10 * (roles.length + folders.length))
})

test('an explanation walks in slices if there is no space for closures', () => {
  const folders = Array.from({ length: 10_000 }, (_, n) => `folder:${n}`)
  const question = { user: 'alice', action: 'read', type: 'folder', key: '9999', tenant: null }
  const slicesOf = (engine: SharedEngine): number => {
    engine.apply([
      tenant('default'),
      user('alice'),
      user('bob'),
      resourceType('folder', 'read'),
      relation('folder', 'parent', 'folder'),
      viewerBelow('folder', 'read'),
      ...folders.map(name => instance(name)),
      ...folders.slice(1).map((name, n) => link(folders[n]!, 'parent', name)),
      assign('alice', 'viewer', folders[0]!),
      ...folders.map(name => assign('bob', 'viewer', name)),
    ])
    const explaining = engine.explain(question, EXPLAIN_STEPS_MAX)
    for (let count = 1; ; count++) {
      const step = explaining.next()
      if (!step.done) continue
      expect(step.value.allow).toBe(true)
      return count
    }
  }
  const withRoom = slicesOf(new SharedEngine())
  // The walk of the decision also runs in slices of a thousand steps.
  const withoutRoom = slicesOf(new SharedEngine({ closureBytesMax: 1 << 13 }))
  expect(withoutRoom).toBeGreaterThan(withRoom + folders.length / 1_024)
})

test('lists and searches that find too many roles are rejected before the roles are stored', () => {
  const roles = Array.from({ length: 1_000 }, (_, n) => `role-${n}`)
  const papers = Array.from({ length: 8_400 }, (_, n) => `paper:${n}`)
  const engine = SharedEngine.with([
    tenant('default'),
    user('alice'),
    resourceType('folder', 'read'),
    role('folder', 'viewer', { can: ['read'] }),
    resourceType('paper', 'read'),
    relation('paper', 'parent', 'folder'),
    ...roles.map(key =>
      role('paper', key, { can: ['read'], from: [heldBy({ role: 'viewer', on: 'folder', over: 'parent' })] }),
    ),
    instance('folder:all'),
    assign('alice', 'viewer', 'folder:all'),
    ...papers.flatMap(name => [instance(name), link('folder:all', 'parent', name)]),
  ])
  const refused = expect.objectContaining({ code: 'LIMIT_EXCEEDED', limit: 'list' })
  const question = { user: 'alice', action: 'read', type: 'paper', tenant: null }
  expect(thrownBy(() => runAtOnce(engine.instanceRolesOf('alice', ANY, 10, new Keys())))).toEqual(refused)
  expect(thrownBy(() => searchResources(engine, question, { after: null, limit: 10 }))).toEqual(refused)
  expect(engine.evaluate({ ...question, key: '8399' })).toBe(true)
})

function thrownBy(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
