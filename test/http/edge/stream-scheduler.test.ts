/** Bytes for many readers at once: a turn of the loop writes some of them, and decisions come between. */
import { expect, test } from 'vitest'
import { StreamScheduler } from '#http/edge/stream-scheduler.ts'

/** Readers who each take some pieces, on a clock of which a piece takes a millisecond. */
function open() {
  let now = 0
  const written: string[] = []
  const turns = new StreamScheduler(() => now)
  const take = (name: string, pieces: number): void => {
    let left = pieces
    const pourPiece = (): boolean => {
      written.push(name)
      now += 1
      left -= 1
      return left > 0
    }
    turns.take({ pourPiece })
  }
  return { take, written }
}

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('what comes alone is written at once', () => {
  const { take, written } = open()
  take('ann', 1)
  expect(written).toEqual(['ann'])
})

test('a turn of the loop writes two milliseconds long, however many readers there are; they have their turns in order', async () => {
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

test('who comes while others wait is behind them', async () => {
  const { take, written } = open()
  take('ann', 4)
  take('bob', 1)
  expect(written).toEqual(['ann', 'ann'])
  await nextTurn()
  expect(written).toEqual(['ann', 'ann', 'ann', 'bob'])
})
