/** A full index refuses changes before the commit. The tests use the real index with a small capacity. */
import { expect, test } from 'vitest'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import { Replica } from '#replica/replica.ts'
import { SECRETS } from '#testing/engines/shared-engine.ts'
import { openedService, scope } from '../support/environment-service.ts'
import { sharedIndexes } from '../support/shared-indexes.ts'

const REFUSED = { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('is full') }

/** `onHeld` is called when a commit reserves capacity of the index, and when the capacity is released. */
async function environmentWith(
  graphBytesMax: number,
  onHeld: (changes: readonly Change[], isHeld: boolean) => void = () => {},
) {
  const { indexes } = sharedIndexes({
    createWriter: () => new SharedIndexWriter({ threadId: 1, secrets: SECRETS, graphBytesMax }),
  })
  const { environment, service } = await openedService({
    whenVisible: revision => replica.whenVisible(revision),
    reserveCapacity: changes => {
      const giveBack = indexes.reserveCapacity(scope.environmentId, changes)
      onHeld(changes, true)
      return () => {
        onHeld(changes, false)
        giveBack()
      }
    },
  })
  const replica = new Replica(scope.environmentId, environment, indexes)
  await replica.start(error => expect.unreachable(String(error)))
  await service.execute('createTenant', { body: { key: 'default', name: 'Default' } })
  return { service, records: () => indexes.look(scope.environmentId)!.records }
}

type Service = Awaited<ReturnType<typeof environmentWith>>['service']

/** Creates `doc:d1`. Returns a function that updates its attributes. */
async function withDocument(service: Service) {
  await service.execute('createResource', { body: { key: 'doc', name: 'Doc', actions: {} } })
  await service.execute('createResourceInstance', { body: { key: 'd1', resource: 'doc', tenant: 'default' } })
  return (attributes: { name: string; round?: number }) =>
    service.execute('updateResourceInstance', { params: { instance_id: 'doc:d1' }, body: { attributes } })
}

function users(prefix: string, count = 200) {
  return { body: { operations: Array.from({ length: count }, (_, n) => ({ key: `${prefix}-${n}` })) } }
}

test('the index contains all users of successful concurrent bulks, and no users of refused bulks', async () => {
  const { service, records } = await environmentWith(1 << 18)
  const sent = Array.from({ length: 40 }, (_, n) => service.execute('createUsers', users(`u${n}`)))
  const outcomes = await Promise.allSettled(sent)
  const refused = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []))
  expect(refused.length).toBeGreaterThan(0)
  for (const reason of refused) expect(reason).toMatchObject(REFUSED)
  const taken = outcomes.length - refused.length
  expect(taken).toBeGreaterThan(1)
  // The default tenant is also in the index.
  expect(records()).toBe(1 + taken * 200)
  expect((await service.execute('countEnvironment', undefined)).answer.users).toBe(taken * 200)
})

test('attributes count toward the capacity of the index, and removals are accepted and free capacity', async () => {
  const { service } = await environmentWith(1 << 18)
  await service.execute('createResource', { body: { key: 'doc', name: 'Doc', actions: {} } })
  const create = (key: string, attributes: object) =>
    service.execute('createResourceInstance', {
      body: { key, resource: 'doc', tenant: 'default', attributes: { ...attributes } },
    })
  const note = 'x'.repeat(20_000)
  const made: string[] = []
  const fill = async (): Promise<void> => {
    for (let n = 0; n < 100; n++) {
      await create(`d${n}`, { note })
      made.push(`d${n}`)
    }
  }
  await expect(fill()).rejects.toMatchObject(REFUSED)
  expect(made.length).toBeGreaterThan(2)
  const update = { params: { instance_id: `doc:${made[0]}` }, body: { attributes: { note: note + note } } }
  await expect(service.execute('updateResourceInstance', update)).rejects.toMatchObject(REFUSED)
  for (const key of made) {
    await service.execute('deleteResourceInstance', { params: { instance_id: `doc:${key}` } })
  }
  // The writer collects freed space when it is idle.
  const isMade = () =>
    create('again', { note }).then(
      () => true,
      () => false,
    )
  await expect.poll(isMade, { interval: 1 }).toBe(true)
})

test('a change that is retried after a conflict reserves capacity only once', async () => {
  /** For each change, by name: the number of its reservations after each reservation or release. */
  const holds = new Map<string, number[]>()
  const { service } = await environmentWith(1 << 20, (changes, isHeld) => {
    for (const [name, counts] of holds) {
      if (JSON.stringify(changes).includes(name)) counts.push((counts.at(-1) ?? 0) + (isHeld ? 1 : -1))
    }
  })
  const update = await withDocument(service)
  const hasLost = (counts: readonly number[]): boolean => counts.length > 2
  // Repeats until a change conflicts. None conflicts if the first commits before the second begins.
  for (let round = 0; ![...holds.values()].some(hasLost); round += 1) {
    holds.clear()
    for (const name of [`first-${round}.`, `second-${round}.`]) holds.set(name, [])
    await Promise.all([...holds.keys()].map(name => update({ name })))
  }
  expect([...holds.values()].toSorted((a, b) => a.length - b.length)).toEqual([
    [1, 0],
    [1, 0, 1, 0],
  ])
})

test('a change that waits for its retry reserves no capacity while other changes are retried before it', async () => {
  const names = ['first', 'second', 'third']
  const log: string[] = []
  const { service } = await environmentWith(1 << 20, (changes, isHeld) => {
    const name = names.find(each => JSON.stringify(changes).includes(each))
    if (name !== undefined) log.push(`${name} ${isHeld ? 'holds' : 'gives back'}`)
  })
  const update = await withDocument(service)
  // Two changes conflict only if all begin before the first commit, which a slow machine can prevent.
  let round = 0
  let losers: readonly string[] = []
  while (losers.length < 2) {
    log.length = 0
    round += 1
    await Promise.all(names.map(name => update({ name, round })))
    losers = names.filter(name => log.filter(line => line.startsWith(name)).length > 2)
  }
  const [next, last] = losers.toSorted(
    (a, b) => log.lastIndexOf(`${a} holds`) - log.lastIndexOf(`${b} holds`),
  )
  const ofLosers = log.filter(line => !line.startsWith(names.find(name => !losers.includes(name))!))
  expect(ofLosers.slice(0, 4).toSorted()).toEqual(
    [`${next} holds`, `${last} holds`, `${next} gives back`, `${last} gives back`].toSorted(),
  )
  expect(ofLosers.slice(4, 5)).toEqual([`${next} holds`])
})
