/** Memory stops growing while entities are created and deleted, although free blocks are never joined. */
import { expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import { Random } from '#testing/data/random.ts'
import { assign, DOCUMENTS, FOLDERS, instance, link, removed, user } from '#testing/engines/changes.ts'
import { CollectingEngine } from '#testing/engines/shared-engine.ts'

const ROUNDS = 600
const SETTLED = 400
/** Approximate number of facts at a time. Half of the rounds remove most of the facts. */
const CROWD = 3_000

/** A user or an instance with edges. A few of them have very many edges. */
function arrival(random: Random, n: number): Change[] {
  const size = Math.floor(2 ** (random.next() * random.next() * 10))
  const long = 'k'.repeat(random.below(random.below(2) === 0 ? 8 : 400))
  const folder = `folder:${long}${n}`
  const changes: Change[] = [
    {
      ...instance(folder),
      attributes: random.below(3) === 0 ? { note: 'x'.repeat(random.below(300)) } : null,
    },
    user(`u${n}`),
  ]
  if (n > 0) changes.push(link('folder:top', 'parent', folder))
  for (let e = 0; e < size; e++) {
    const document = `document:${n}-${e}`
    changes.push(instance(document), link(folder, 'parent', document), assign(`u${n}`, 'viewer', document))
  }
  return changes
}

test('memory stops growing after four hundred rounds of creating and deleting entities of all sizes', () => {
  const engine = new CollectingEngine()
  const random = new Random(99)
  engine.apply([...FOLDERS, ...DOCUMENTS, instance('folder:top')])
  let standing: Change[][] = []
  let facts = 0
  let settled = 0
  let arrivals = 0
  const bytes = (): number => engine.writer.bytes().graph + engine.writer.bytes().closures
  for (let round = 0; round < ROUNDS; round++) {
    while (facts < CROWD) {
      const puts = arrival(random, arrivals++)
      engine.apply(puts)
      standing.push(puts)
      facts += puts.length
    }
    const last = standing.at(-1)!.find(put => put.kind === 'instance-put')!
    engine.evaluate({ user: 'u0', action: 'open', type: 'folder', key: last.instance.key, tenant: null })
    // Removes a small or a large share of the entities, chosen at random.
    const share = random.below(2) === 0 ? 0.2 : 0.9
    const stays = standing.filter(() => random.next() > share)
    for (const puts of standing) {
      if (stays.includes(puts)) continue
      engine.apply(puts.filter(put => put.kind === 'user-put' || put.kind === 'instance-put').map(removed))
      facts -= puts.length
    }
    standing = stays
    if (round === SETTLED) settled = bytes()
  }
  expect(settled).toBeGreaterThan(100_000)
  expect(bytes()).toBeLessThanOrEqual(settled * 1.13)
})
