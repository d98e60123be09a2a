/**
 * An environment whose index is full: what it has no room for is refused before it is committed, by whatever call, and what is
 * committed is applied. The index is a real one, with less room than it has in the service; the code is the same.
 */
import { expect, test } from 'vitest'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import { Replica } from '#replica/replica.ts'
import { SharedIndexes } from '#threads/indexes/shared-indexes.ts'
import { openedService, scope } from '../support/environment-service.ts'

const REFUSED = { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('is full') }

/** An environment with so much room in its index. `onHeld` hears of changes that room is held for, and of what is given back. */
async function environmentWith(
  graphBytesMax: number,
  onHeld: (changes: readonly Change[], isHeld: boolean) => void = () => {},
) {
  const indexes = new SharedIndexes({
    createWriter: () =>
      new SharedIndexWriter({ threadId: 1, secrets: { start: 7, multiplier: 0x2545f491 }, graphBytesMax }),
    attach: async () => {},
    detach: async () => {},
    kept: null,
    warmUpWriter: null,
    onFault: (_id, error) => expect.unreachable(String(error)),
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

function users(prefix: string, count = 200) {
  return { body: { operations: Array.from({ length: count }, (_, n) => ({ key: `${prefix}-${n}` })) } }
}

test('bulks of users sent at once: those that are answered are in the index, the others nowhere', async () => {
  const { service, records } = await environmentWith(1 << 18)
  const sent = Array.from({ length: 40 }, (_, n) => service.execute('createUsers', users(`u${n}`)))
  const outcomes = await Promise.allSettled(sent)
  const refused = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []))
  expect(refused.length).toBeGreaterThan(0)
  for (const reason of refused) expect(reason).toMatchObject(REFUSED)
  const taken = outcomes.length - refused.length
  expect(taken).toBeGreaterThan(1)
  // The tenant, too.
  expect(records()).toBe(1 + taken * 200)
  expect((await service.execute('countEnvironment', undefined)).answer.users).toBe(taken * 200)
})

test('attributes count, removals are taken, and make room', async () => {
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
  // What is removed is collected in idle moments.
  const isMade = () =>
    create('again', { note }).then(
      () => true,
      () => false,
    )
  await expect.poll(isMade, { interval: 1 }).toBe(true)
})

test('a change that loses to others, and is made again, holds room once', async () => {
  /** Of the change to that name: how often room was held for it, after each time that it was, or was given back. */
  const holds = new Map<string, number[]>()
  const { service } = await environmentWith(1 << 20, (changes, isHeld) => {
    for (const [name, counts] of holds) {
      if (JSON.stringify(changes).includes(name)) counts.push((counts.at(-1) ?? 0) + (isHeld ? 1 : -1))
    }
  })
  await service.execute('createResource', { body: { key: 'doc', name: 'Doc', actions: {} } })
  await service.execute('createResourceInstance', { body: { key: 'd1', resource: 'doc', tenant: 'default' } })
  const update = (name: string) =>
    service.execute('updateResourceInstance', {
      params: { instance_id: 'doc:d1' },
      body: { attributes: { name } },
    })
  const hasLost = (counts: readonly number[]): boolean => counts.length > 2
  // Where the one is made before the other one begins, neither loses.
  for (let round = 0; ![...holds.values()].some(hasLost); round += 1) {
    holds.clear()
    for (const name of [`first-${round}.`, `second-${round}.`]) holds.set(name, [])
    await Promise.all([...holds.keys()].map(update))
  }
  expect([...holds.values()].toSorted((a, b) => a.length - b.length)).toEqual([
    [1, 0],
    [1, 0, 1, 0],
  ])
})

test('a change that has lost holds no room while others that have lost are made before it', async () => {
  const names = ['first', 'second', 'third']
  const log: string[] = []
  const { service } = await environmentWith(1 << 20, (changes, isHeld) => {
    const name = names.find(each => JSON.stringify(changes).includes(each))
    if (name !== undefined) log.push(`${name} ${isHeld ? 'holds' : 'gives back'}`)
  })
  await service.execute('createResource', { body: { key: 'doc', name: 'Doc', actions: {} } })
  await service.execute('createResourceInstance', { body: { key: 'd1', resource: 'doc', tenant: 'default' } })
  const update = (name: string) =>
    service.execute('updateResourceInstance', {
      params: { instance_id: 'doc:d1' },
      body: { attributes: { name, round } },
    })
  // Two lose where none was committed before the last of them began; on a machine that stands still, one may be done by then.
  let round = 0
  let losers: readonly string[] = []
  while (losers.length < 2) {
    log.length = 0
    round += 1
    await Promise.all(names.map(update))
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
