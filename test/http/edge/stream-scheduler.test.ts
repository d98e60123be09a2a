/** Streaming responses to many readers: each event-loop iteration writes for a limited time. */
import { expect, test } from 'vitest'
import { StreamScheduler } from '#http/edge/stream-scheduler.ts'
import { LONGEST_SLICE_MS, TimeBudget } from '#scheduling/time-budget.ts'

/** Readers with several pieces each. Two pieces take one slice. */
function open() {
  let now = 0
  const written: string[] = []
  const turns = new StreamScheduler(new TimeBudget('http', () => now))
  const take = (name: string, pieces: number): void => {
    let left = pieces
    const pourPiece = (): boolean => {
      written.push(name)
      now += LONGEST_SLICE_MS.http / 2
      left -= 1
      return left > 0
    }
    turns.take({ pourPiece })
  }
  return { take, written }
}

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('a single piece is written immediately', () => {
  const { take, written } = open()
  take('ann', 1)
  expect(written).toEqual(['ann'])
})

test('in each event-loop iteration, the scheduler writes to the readers in turn until its time slice ends', async () => {
  const { take, written } = open()
  for (const name of ['ann', 'bob', 'cyd']) take(name, 2)
  expect(written).toEqual(['ann', 'ann'])
  await nextTurn()
  expect(written).toEqual(['ann', 'ann', 'bob', 'cyd'])
  await nextTurn()
  expect(written.slice(4)).toEqual(['bob', 'cyd'])
  await nextTurn()
  expect(written.length).toBe(6)
})

test('a new reader is queued after the waiting readers', async () => {
  const { take, written } = open()
  take('ann', 4)
  take('bob', 1)
  expect(written).toEqual(['ann', 'ann'])
  await nextTurn()
  expect(written).toEqual(['ann', 'ann', 'ann', 'bob'])
})
