/** Long reads: one after the other in an environment, a bounded number in all, and nobody twice before another once. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ConcurrencyLimit } from '#management/commands/concurrency-limit.ts'
import { type ReadQueue, ReadQueues } from '#management/commands/read-queues.ts'

/** Reads that go on until they are ended, by name, in the order in which they began. */
class Reading {
  readonly begun: string[] = []
  readonly #ends = new Map<string, (value: string) => void>()

  begin(lane: ReadQueue, name: string): Promise<string> {
    return lane.run(() => {
      this.begun.push(name)
      return new Promise(resolve => this.#ends.set(name, resolve))
    })
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)!(name)
    await turn()
  }
}

test('reads of an environment go one after the other, and those of others beside them', async () => {
  const lanes = new ReadQueues()
  const [hostile, polite] = [lanes.queue(), lanes.queue()]
  const reading = new Reading()
  const all = [1, 2, 3].map(n => reading.begin(hostile, `hostile ${n}`))
  const own = reading.begin(polite, 'polite')
  await turn()
  expect(reading.begun).toEqual(['hostile 1', 'polite'])
  for (const n of [1, 2, 3]) await reading.end(`hostile ${n}`)
  await reading.end('polite')
  expect(await Promise.all([...all, own])).toEqual(['hostile 1', 'hostile 2', 'hostile 3', 'polite'])
})

test('beyond so many in all the next is that of whoever waited longest, once each', async () => {
  const lanes = new ReadQueues(2)
  const reading = new Reading()
  const environments = ['a', 'b', 'c'].map(name => ({ name, lane: lanes.queue() }))
  for (const { name, lane } of environments) for (const n of [1, 2]) void reading.begin(lane, `${name}${n}`)
  await turn()
  expect(reading.begun).toEqual(['a1', 'b1'])
  await reading.end('a1')
  expect(reading.begun).toEqual(['a1', 'b1', 'c1'])
  await reading.end('b1')
  await reading.end('c1')
  expect(reading.begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2'])
})

test('one that fails leaves its place', async () => {
  const lane = new ReadQueues(1).queue()
  await expect(lane.run(() => Promise.reject(new Error('on purpose')))).rejects.toThrow('on purpose')
  expect(await lane.run(() => Promise.resolve('next'))).toBe('next')
})

test('of what has a ceiling nobody takes all places, and beyond all of them everybody is told', () => {
  const limit = new ConcurrencyLimit({ max: 3, shareMax: 2 }, 'exports')
  const [leave] = [limit.acquire('hostile'), limit.acquire('hostile')]
  expect(() => limit.acquire('hostile')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
  limit.acquire('polite')
  expect(() => limit.acquire('polite')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
  leave!()
  leave!()
  limit.acquire('polite')
  expect(() => limit.acquire('third')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
})
