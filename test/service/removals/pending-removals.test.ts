/** Removed entities that are not purged yet: readers share their ids, and their number is limited. */
import { randomBytes, randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { deadIdsIn, pendingDeadIds } from '#store/keyspace/dead-ids.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { Purging, RemovalsPendingError } from '#management/environment/purging.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { Random } from '#testing/data/random.ts'
import { countedView } from '../../support/counted-view.ts'
import { openedService, storedEnvironment } from '../../support/environment-service.ts'
import { runtimeServicesWith } from '../../support/runtime-services.ts'

const PENDING_MAX = 4

test('the cached ids of pending removals match the rows after any sequence of changes', async () => {
  const { view, commit } = await storedEnvironment()
  const random = new Random(43)
  const ids = Array.from({ length: 12 }, () => randomUUID())
  let known = pendingDeadIds(view)
  for (let turn = 0; turn < 300; turn += 1) {
    await commit(records => {
      const purges = [...records.list('purge', lists.all('purge'))]
      // Usually the oldest purge is completed first, but another node can complete a later purge.
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
    // The cache is read only after some commits, so that a read can cover several commits.
    if (random.below(3) === 0) known = pendingDeadIds(view)
    else continue
    const dead = deadIdsIn(view.scan(lists.all('purge')))
    expect(ids.filter(id => known.has(id))).toEqual(ids.filter(id => dead.has(id)))
    expect(known.size).toBe(dead.size)
  }
})

test('all readers together decode each pending removal only once', async () => {
  const { view, commit } = await storedEnvironment()
  const { counted, counts } = countedView(view)
  const removals = 50
  for (let turn = 0; turn < removals; turn += 1) {
    await commit(records => {
      const removed = { deadIds: [randomUUID()], lists: [lists.all('user')] }
      records.put({ kind: 'purge', id: randomUUID(), ...removed })
    })
    for (let reader = 0; reader < 5; reader += 1) {
      new RecordReader(counted).get('tenant', rowKeys.tenant('none'))
      expect(new RecordReader(counted).hasDead).toBe(true)
    }
  }
  expect(counts.scanned).toBe(removals)
})

async function openService() {
  const { service, view, commit } = await openedService({ pendingMax: PENDING_MAX })
  await service.execute('createTenant', { body: { key: 'default', name: 'Default' } })
  await service.execute('createResource', { body: { key: 'document', name: 'Document', actions: {} } })
  const operations = Array.from({ length: 6 }, (_, n) => {
    return { key: `d${n}`, resource: 'document', tenant: 'default' }
  })
  await service.execute('replaceResourceInstances', { body: { operations } })
  /** Stores `count` removed entities that are never purged. */
  const leave = (count: number) =>
    commit(records => {
      const deadIds = Array.from({ length: count }, () => randomUUID())
      records.put({ kind: 'purge', id: randomUUID(), deadIds, lists: [] })
    })
  const remove = (...keys: readonly string[]) =>
    service.execute('deleteResourceInstances', { body: { idents: keys.map(key => `document:${key}`) } })
  return { service, view, leave, remove }
}

test('removals above the limit are refused as a whole if they cannot be purged, and other changes succeed', async () => {
  const { service, leave, remove, view } = await openService()
  // Closing the service ends its purges.
  await service.close()
  await leave(PENDING_MAX - 3)
  await remove('d0', 'd1')
  await remove('d2')
  expect(pendingDeadIds(view).size).toBe(PENDING_MAX)
  const sequence = view.sequence()
  await expect(remove('d3')).rejects.toMatchObject({ code: 'OVERLOADED', limit: 'removals' })
  expect(view.sequence()).toBe(sequence)
  await service.execute('createUser', { body: { key: 'anna' } })
})

test('a single removal can remove more entities than the limit', async () => {
  const { service, remove } = await openService()
  await service.close()
  await remove('d0', 'd1', 'd2', 'd3', 'd4')
  await expect(remove('d5')).rejects.toMatchObject({ code: 'OVERLOADED', limit: 'removals' })
})

test('removals above the limit wait until earlier ones are purged, and then all succeed', async () => {
  const { view, leave, remove } = await openService()
  await leave(PENDING_MAX)
  const [pending] = view.scan(lists.all('purge'))
  await Promise.all([remove('d0', 'd1', 'd2', 'd3', 'd4'), remove('d5')])
  expect(view.get(pending!.key)).toBeUndefined()
  expect(view.count(lists.all('instance'))).toBe(0)
})

test('a removal waits for capacity for all its entities, and later removals wait in order', async () => {
  const { environment, commit } = await storedEnvironment()
  const goOn = Promise.withResolvers<void>()
  const purged = Promise.withResolvers<void>()
  const runtime = runtimeServicesWith({ newCommitId: () => randomBytes(16) })
  const purging = new Purging({
    store: environment,
    runtime,
    // The purge is in progress until this promise resolves.
    whenLosersAreDone: () => (purged.resolve(), goOn.promise),
    onDone: async () => {},
    pendingMax: PENDING_MAX,
  })
  onTestFinished(async () => {
    goOn.resolve()
    await purging.close()
  })
  await commit(records =>
    records.put({ kind: 'purge', id: randomUUID(), deadIds: [randomUUID()], lists: [] }),
  )
  purging.resume()
  await purged.promise
  const order: string[] = []
  const wait = async (name: string, removed: number) => {
    const turn = await purging.whenCapacityFor(removed)
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
