/** Limits of concurrent work, and queues of long reads with one read at a time per environment. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Admission, type ReadQueue, ReadQueues } from '#scheduling/admission.ts'
import { AuthzError } from '#model/errors.ts'

/** Runs reads until the test ends them, and records their names in starting order. */
class Reading {
  readonly begun: string[] = []
  readonly #ends = new Map<string, (value: string) => void>()

  begin(queue: ReadQueue, name: string): Promise<string> {
    return queue.run(() => {
      this.begun.push(name)
      return new Promise(resolve => this.#ends.set(name, resolve))
    })
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)!(name)
    await turn()
  }
}

test('long reads of one environment run one at a time, concurrently with those of other environments', async () => {
  const queues = new ReadQueues()
  const [hostile, polite] = [queues.queue(), queues.queue()]
  const reading = new Reading()
  const all = [1, 2, 3].map(n => reading.begin(hostile, `hostile ${n}`))
  const own = reading.begin(polite, 'polite')
  await turn()
  expect(reading.begun).toEqual(['hostile 1', 'polite'])
  for (const n of [1, 2, 3]) await reading.end(`hostile ${n}`)
  await reading.end('polite')
  expect(await Promise.all([...all, own])).toEqual(['hostile 1', 'hostile 2', 'hostile 3', 'polite'])
})

test('at the limit of long reads, the environment that has waited longest starts its next read', async () => {
  const queues = new ReadQueues(2)
  const reading = new Reading()
  const environments = ['a', 'b', 'c'].map(name => ({ name, queue: queues.queue() }))
  for (const { name, queue } of environments) for (const n of [1, 2]) void reading.begin(queue, `${name}${n}`)
  await turn()
  expect(reading.begun).toEqual(['a1', 'b1'])
  await reading.end('a1')
  expect(reading.begun).toEqual(['a1', 'b1', 'c1'])
  await reading.end('b1')
  await reading.end('c1')
  expect(reading.begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2'])
})

test('a failed read releases its slot', async () => {
  const queue = new ReadQueues(1).queue()
  await expect(queue.run(() => Promise.reject(new Error('on purpose')))).rejects.toThrow('on purpose')
  expect(await queue.run(() => Promise.resolve('next'))).toBe('next')
})

test('an environment cannot take all slots of a concurrency limit, and is refused if no slot is free', () => {
  const refusal = (isShareFull: boolean) => new AuthzError(isShareFull ? 'RATE_LIMITED' : 'OVERLOADED', '')
  const limit = new Admission({ max: 3, shareMax: 2 }, refusal)
  const [leave] = [limit.acquire('hostile'), limit.acquire('hostile')]
  expect(() => limit.acquire('hostile')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
  limit.acquire('polite')
  expect(() => limit.acquire('polite')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
  leave!()
  leave!()
  limit.acquire('polite')
  expect(() => limit.acquire('third')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
})
