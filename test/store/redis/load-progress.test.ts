/** Log of the progress of a long load. */
import { expect, test } from 'vitest'
import { LoadProgress } from '#store/redis/copy/load-progress.ts'

function progressOf(total: number) {
  const clock = { now: 500 }
  const lines: object[] = []
  const log = { info: (fields: object, msg: string) => void lines.push({ ...fields, msg }) }
  const progress = new LoadProgress({ total, environmentId: 'env', log, elapsedMs: () => clock.now })
  const at = (ms: number, facts: number) => {
    clock.now = 500 + ms
    progress.add(facts)
  }
  return { progress, at, lines }
}

test('a long load logs every two seconds the loaded facts, the facts per second and the remaining facts', () => {
  const { progress, at, lines } = progressOf(10_000)
  at(1_000, 1_000)
  at(1_999, 1_000)
  expect(lines).toEqual([])
  at(2_000, 1_000)
  at(3_900, 500)
  at(4_000, 4_500)
  const line = { environment: 'env', msg: 'loading' }
  expect(lines).toEqual([
    { ...line, facts: 3_000, factsPerSecond: 1_500, remaining: 7_000 },
    { ...line, facts: 8_000, factsPerSecond: 2_000, remaining: 2_000 },
  ])
  // The load has more facts than at its start, because other nodes have written.
  at(5_000, 2_500)
  progress.end()
  expect(lines.slice(2)).toEqual([
    { ...line, facts: 10_500, factsPerSecond: 2_100, remaining: 0, msg: 'loaded' },
  ])
})

test('a short load logs nothing', () => {
  const { progress, at, lines } = progressOf(10)
  at(1_500, 10)
  progress.end()
  expect(lines).toEqual([])
})
