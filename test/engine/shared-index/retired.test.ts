/** An interrupted commit or a broken invariant retires an index. All its queries then throw immediately. */
import { expect, test } from 'vitest'
import { IndexFault, type DecisionEngine } from '#engine/engine.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { beginSection } from '#engine/shared-index/memory/sequence.ts'
import { ConsistentReads } from '#engine/shared-index/schema/consistent-reads.ts'
import { InvariantError } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import {
  grantsOn,
  instanceRolesOf,
  searchResources,
  searchUsers,
  tenantRolesOf,
} from '#testing/engines/listed.ts'
import { assign, instance, resourceType, role, tenant, user } from '#testing/engines/changes.ts'
import { evaluateAll, packed } from '#testing/engines/packed.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const CLOSED = expect.objectContaining({ code: 'ENVIRONMENT_CLOSED' })
const QUERY: Query = { user: 'alice', action: 'read', type: 'document', key: 'd', tenant: null }
const PAGE = { after: null, limit: 10 }
/** A change that this release does not know. */
const UNKNOWN = { kind: 'of-a-later-release' } as unknown as Change

const WAYS: Readonly<Record<string, (engine: DecisionEngine) => unknown>> = {
  evaluate: engine => engine.evaluate(QUERY),
  evaluateFirst: engine => engine.evaluateWithin(packed([QUERY]), Infinity),
  evaluateAll: engine => evaluateAll(engine, [QUERY, QUERY]),
  evaluatePacked: engine => engine.evaluateAll(packed([QUERY])),
  searchResources: engine => searchResources(engine, { ...QUERY, tenant: null }, PAGE),
  searchUsers: engine => searchUsers(engine, QUERY, PAGE),
  searchActions: engine => runAtOnce(engine.searchActions(QUERY)),
  tenantRolesOf: engine => tenantRolesOf(engine, 'alice', null, 10),
  instanceRolesOf: engine =>
    instanceRolesOf(engine, 'alice', { tenants: null, types: null, accepts: null }, 10),
  grantsOn: engine => grantsOn(engine, QUERY, 10),
  tenantOf: engine => engine.tenantOf('document', 'd'),
  'keys of tenants': engine => runAtOnce(engine.tenants.keys(10)),
  'attributes of a tenant': engine => engine.tenants.attributesOf('default'),
  explain: engine => runAtOnce(engine.explain(QUERY, EXPLAIN_STEPS_MAX)),
}

function standingEngine(options: { readonly lockEveryRead?: boolean } = {}): SharedEngine {
  const engine = new SharedEngine(options)
  engine.apply([
    tenant('default'),
    user('alice'),
    resourceType('document', 'read'),
    role('document', 'viewer', { can: ['read'] }),
    instance('document:d'),
    assign('alice', 'viewer', 'document:d'),
  ])
  expect(engine.evaluate(QUERY)).toBe(true)
  return engine
}

test.each([false, true])(
  'all queries fail after an interrupted commit (with the lock: %s)',
  lockEveryRead => {
    const engine = standingEngine({ lockEveryRead })
    expect(() => engine.apply([user('bob'), UNKNOWN, assign('bob', 'viewer', 'document:d')])).toThrow(
      InvariantError,
    )
    for (const [way, ask] of Object.entries(WAYS)) expect(() => ask(engine), way).toThrow(CLOSED)
    // Each query fails again when it is repeated.
    for (const [way, ask] of Object.entries(WAYS)) expect(() => ask(engine), way).toThrow(CLOSED)
  },
)

test('a retired index can be neither attached, written nor saved', () => {
  const engine = standingEngine()
  expect(() => engine.apply([UNKNOWN])).toThrow(InvariantError)
  const { writer } = engine
  expect(() => new SharedIndexReader(writer.handle, { threadId: 3 })).toThrow(CLOSED)
  expect(() => writer.apply([user('carol')])).toThrow(CLOSED)
  expect(writer.save()).toBeNull()
})

test('a read during an interrupted commit returns no result', () => {
  const engine = standingEngine()
  const filter = {
    tenants: null,
    types: null,
    accepts: () => {
      expect(() => engine.apply([UNKNOWN])).toThrow(InvariantError)
      return true
    },
  }
  expect(() => instanceRolesOf(engine, 'alice', filter, 10)).toThrow(CLOSED)
})

test('a reader that fails in a critical section retires the index, and blocks no other reader', () => {
  const engine = standingEngine()
  const reads = new ConsistentReads(engine.writer.handle, { threadId: 3 }, () => {})
  const cutShort = () =>
    reads.locked(() => {
      beginSection(reads.regions.header)
      throw new RangeError('no room')
    })
  expect(cutShort).toThrow(new RangeError('no room'))
  for (const [way, ask] of Object.entries(WAYS)) expect(() => ask(engine), way).toThrow(CLOSED)
})

test('a reader that finds a broken invariant reports it only once, and retires its own index but no other index', async () => {
  const [engine, other] = [standingEngine(), standingEngine()]
  const retired = engine.writer.whenRetired()
  const reads = new ConsistentReads(engine.writer.handle, { threadId: 3 }, () => {})
  const broken = () =>
    reads.read(1, () => {
      throw new InvariantError('on purpose')
    })
  expect(broken).toThrow(IndexFault)
  expect(broken).toThrow(CLOSED)
  expect(await retired).toBe(true)
  for (const [way, ask] of Object.entries(WAYS)) expect(() => ask(engine), way).toThrow(CLOSED)
  for (const [way, ask] of Object.entries(WAYS)) expect(() => ask(other), way).not.toThrow()
})

test('a wait for the retirement of an index ends when the index is released, and the index remains usable', async () => {
  const engine = standingEngine()
  const retired = engine.writer.whenRetired()
  engine.writer.letGo()
  expect(await retired).toBe(false)
  expect(engine.evaluate(QUERY)).toBe(true)
})
