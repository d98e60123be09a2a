/** What is removed and not purged yet: readers share what is known of it, and there is a ceiling for it. */
import { randomBytes, randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { EnvironmentService } from '#management/environment/environment-service.ts'
import { deadIdsIn, pendingDeadIds } from '#management/commands/dead-ids.ts'
import { Draft } from '#management/commands/draft.ts'
import { RecordReader } from '#management/commands/record-reader.ts'
import { Purging, RemovalsPendingError } from '#management/environment/purging.ts'
import { listRule, lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open-store.ts'
import type { View } from '#store/view.ts'
import { Random } from '#testing/data/random.ts'
import { surroundingsWith } from '../support/surroundings.ts'

const scope = {
  organizationId: randomUUID(),
  projectId: randomUUID(),
  environmentId: 'environment',
  createdAt: 0,
}
const PENDING_MAX = 4

async function openEnvironment() {
  const store = await openStore('memory:', listRule)
  const environment = await store.environment(scope.environmentId)
  const { view, ledger } = environment
  const commit = (write: (records: Draft) => void) => {
    const records = new Draft(view)
    write(records)
    return ledger.commit(records.toCommit(randomBytes(16)))
  }
  return { store, environment, view, commit }
}

/** The same view, which counts the rows of lists that were read through it. */
function counted(view: View) {
  const counts = { rows: 0 }
  const counting: View = {
    get present() {
      return counting
    },
    sequence: () => view.sequence(),
    get: key => view.get(key),
    count: list => view.count(list),
    places: (list, options) => view.places(list, options),
    *scan(list, options) {
      for (const row of view.scan(list, options)) {
        counts.rows += 1
        yield row
      }
    },
    batches: () => view.batches(),
    beginningWith: prefix => view.beginningWith(prefix),
    snapshot: () => view.snapshot(),
  }
  return { counting, counts }
}

test('what is known of pending removals is what their rows say, however they come and go', async () => {
  const { store, view, commit } = await openEnvironment()
  onTestFinished(() => store.close())
  const random = new Random(43)
  const ids = Array.from({ length: 12 }, () => randomUUID())
  let known = pendingDeadIds(view)
  for (let turn = 0; turn < 300; turn += 1) {
    await commit(records => {
      const purges = [...records.list('purge', lists.all('purge'))]
      // The oldest goes first, as a rule; another node may have another one go.
      const oldest = random.below(4) === 0 ? random.below(purges.length + 1) : 0
      const gone = purges[oldest]
      if (gone && random.below(2) === 0) records.delete(gone)
      const left = purges.at(-1)
      if (left && left !== gone && random.below(4) === 0) records.put({ ...left, lists: [] })
      for (let count = random.below(3); count > 0; count -= 1) {
        const deadIds = ids.filter(() => random.below(4) === 0)
        records.put({ kind: 'purge', id: randomUUID(), deadIds, lists: [lists.all('user')] })
      }
    })
    // Not after each commit: several may have come between two looks.
    if (random.below(3) === 0) known = pendingDeadIds(view)
    else continue
    const dead = deadIdsIn(view.scan(lists.all('purge')))
    expect(ids.filter(id => known.has(id))).toEqual(ids.filter(id => dead.has(id)))
    expect(known.size).toBe(dead.size)
  }
})

test('a reader decodes the removals that are new, and none again that another has read', async () => {
  const { store, view, commit } = await openEnvironment()
  onTestFinished(() => store.close())
  const { counting, counts } = counted(view)
  const removals = 50
  for (let turn = 0; turn < removals; turn += 1) {
    await commit(records => {
      const removed = { deadIds: [randomUUID()], lists: [lists.all('user')] }
      records.put({ kind: 'purge', id: randomUUID(), ...removed })
    })
    for (let reader = 0; reader < 5; reader += 1) {
      new RecordReader(counting).get('tenant', rowKeys.tenant('none'))
      expect(new RecordReader(counting).hasDead).toBe(true)
    }
  }
  expect(counts.rows).toBe(removals)
})

async function openService() {
  const { store, environment, view, commit } = await openEnvironment()
  const faults: unknown[] = []
  const service = new EnvironmentService({
    store: environment,
    scope,
    surroundings: surroundingsWith({ onBackgroundFault: error => faults.push(error) }),
    whenVisible: async () => {},
    pendingMax: PENDING_MAX,
  })
  onTestFinished(async () => {
    await service.close()
    await store.close()
    expect(faults).toEqual([])
  })
  await service.execute('createTenant', { body: { key: 'default', name: 'Default' } })
  const body = { key: 'document', name: 'Document', actions: {} }
  await service.execute('createResource', { body })
  const operations = Array.from({ length: 6 }, (_, n) => ({
    key: `d${n}`,
    resource: 'document',
    tenant: 'default',
  }))
  await service.execute('replaceResourceInstances', { body: { operations } })
  /** So many removed things whose purge nobody makes. */
  const leave = (count: number) =>
    commit(records => {
      const deadIds = Array.from({ length: count }, () => randomUUID())
      records.put({ kind: 'purge', id: randomUUID(), deadIds, lists: [] })
    })
  const remove = (...keys: readonly string[]) =>
    service.execute('deleteResourceInstances', { body: { idents: keys.map(key => `document:${key}`) } })
  return { service, view, leave, remove }
}

test('removals below and at the ceiling go through at once, beside those that nobody purges', async () => {
  const { service, leave, remove, view } = await openService()
  await service.close()
  await leave(PENDING_MAX - 3)
  await remove('d0', 'd1')
  await remove('d2')
  expect(pendingDeadIds(view).size).toBe(PENDING_MAX)
})

test('a removal above the ceiling has those before it purged first, and goes through then', async () => {
  const { view, leave, remove } = await openService()
  await leave(PENDING_MAX)
  const [pending] = view.scan(lists.all('purge'))
  await remove('d0', 'd1')
  expect(view.get(pending!.key)).toBeUndefined()
  expect(view.count(lists.all('instance'))).toBe(4)
})

test('a removal that finds too many that nobody purges is refused whole, other changes are not', async () => {
  const { service, leave, remove, view } = await openService()
  // Whoever purges is told to stop, as at the end of the process.
  await service.close()
  await leave(PENDING_MAX - 1)
  await remove('d0')
  const sequence = view.sequence()
  await expect(remove('d1')).rejects.toMatchObject({ code: 'OVERLOADED', limit: 'removals' })
  expect(view.sequence()).toBe(sequence)
  await service.execute('createUser', { body: { key: 'anna' } })
})

test('one removal alone may take more along than the ceiling says', async () => {
  const { service, remove } = await openService()
  await service.close()
  await remove('d0', 'd1', 'd2', 'd3', 'd4')
  await expect(remove('d5')).rejects.toMatchObject({ code: 'OVERLOADED', limit: 'removals' })
})

test('removals above the ceiling, and those that come behind them, all go through while others are purged', async () => {
  const { view, leave, remove } = await openService()
  await leave(PENDING_MAX)
  await Promise.all([remove('d0', 'd1', 'd2', 'd3', 'd4'), remove('d5')])
  expect(view.count(lists.all('instance'))).toBe(0)
})

test('a removal waits for room for all that it removes, and who comes meanwhile waits behind it', async () => {
  const { store, environment, commit } = await openEnvironment()
  const goOn = Promise.withResolvers<void>()
  const purged = Promise.withResolvers<void>()
  const surroundings = surroundingsWith({ newCommitId: () => randomBytes(16) })
  const purging = new Purging({
    store: environment,
    surroundings,
    // Purging is under way as long as this is waited for.
    whenLosersAreDone: () => (purged.resolve(), goOn.promise),
    onDone: async () => {},
    pendingMax: PENDING_MAX,
  })
  onTestFinished(async () => {
    goOn.resolve()
    await purging.close()
    await store.close()
  })
  await commit(records =>
    records.put({ kind: 'purge', id: randomUUID(), deadIds: [randomUUID()], lists: [] }),
  )
  purging.resume()
  await purged.promise
  const order: string[] = []
  const wait = async (name: string, removed: number) => {
    const turn = await purging.whenRoomFor(removed)
    order.push(name)
    return purging.hold(removed, turn)
  }
  const [one, another] = [purging.hold(1), purging.hold(1)]
  const all = [wait('all', PENDING_MAX + 1), wait('most', PENDING_MAX - 1), wait('one', 1)] as const
  one()
  await new Promise(resolve => setImmediate(resolve))
  expect(order).toEqual([])
  expect(() => purging.hold(1)).toThrow(RemovalsPendingError)
  another()
  const giveBack = await all[0]
  await new Promise(resolve => setImmediate(resolve))
  expect(order).toEqual(['all'])
  giveBack()
  for (const each of all) (await each)()
  expect(order).toEqual(['all', 'most', 'one'])
  purging.hold(1)()
})
