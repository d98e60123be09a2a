/** The judge of responses, on which the other fault tests depend. */
import { expect, test } from 'vitest'
import { RING_SEATS, ringWrite, type SeatAnswers } from './support/ring.ts'
import { WriteHistory } from './support/write-history.ts'

/** Decisions of a node that has this number of writes. */
function seatsAfter(writes: number): SeatAnswers {
  const taken = new Set<number>()
  for (let number = 1; number <= writes; number += 1) {
    const { kind, seat } = ringWrite(number)
    if (kind === 'seat') taken.add(seat)
    else taken.delete(seat)
  }
  return Array.from({ length: RING_SEATS }, (_, seat) => ({
    first: taken.has(seat),
    second: taken.has(seat),
  }))
}

/** Writes at 0, 10, 20 and so on. Node `one` acknowledges each after 5 ms, except for the last. */
function historyOf(writes: number): WriteHistory {
  const history = new WriteHistory(100)
  for (let number = 1; number <= writes; number += 1) {
    history.send((number - 1) * 10)
    if (number < writes) history.acknowledge((number - 1) * 10 + 5, 'one')
  }
  return history
}

const asked = (node: string, askedAt: number, seats: SeatAnswers) =>
  ({ node, askedAt, answeredAt: askedAt + 1, seats }) as const

test('the ring has a different state after each write until every seat was taken and freed once', () => {
  const states = new Set<string>()
  for (let writes = 0; writes < 5 + 2 * RING_SEATS; writes += 1) {
    states.add(JSON.stringify(seatsAfter(writes)))
  }
  expect(states.size).toBe(5 + 2 * RING_SEATS)
})

test.each([20, 300])(
  'after %i writes, the judge requires each acknowledged write immediately on the node that acknowledged it, and later on other nodes',
  writes => {
    const now = writes * 10
    expect(historyOf(writes).judge(asked('one', now, seatsAfter(writes)))).toBeNull()
    expect(historyOf(writes).judge(asked('one', now, seatsAfter(writes - 1)))).toBeNull()
    expect(historyOf(writes).judge(asked('one', now, seatsAfter(writes - 2)))).toMatch(/expected a state/)
    expect(historyOf(writes).judge(asked('two', now, seatsAfter(writes - 2)))).toBeNull()
    expect(historyOf(writes).judge(asked('two', now, seatsAfter(writes - 10)))).toBeNull()
    expect(historyOf(writes).judge(asked('two', now, seatsAfter(writes - 11)))).toMatch(/expected a state/)
  },
)

test('the judge rejects a state with a write that was not sent yet', () => {
  expect(historyOf(20).judge(asked('one', 189, seatsAfter(21)))).toMatch(/expected a state from 19 to 20/)
})

test('the judge rejects a node that returns to an earlier state', () => {
  const history = historyOf(20)
  expect(history.judge(asked('two', 200, seatsAfter(18)))).toBeNull()
  expect(history.judge(asked('two', 201, seatsAfter(17)))).toMatch(/expected a state/)
})

test('the judge rejects a partial commit and a mixture of two states', () => {
  const half = seatsAfter(20).map((answer, seat) =>
    seat === 10 ? { ...answer, second: !answer.second } : answer,
  )
  expect(historyOf(20).judge(asked('two', 200, half))).toMatch(/mixed/)
  const [older, newer] = [seatsAfter(12), seatsAfter(20)]
  const mixture = newer.map((answer, seat) => (older[seat]!.first ? older[seat]! : answer))
  expect(historyOf(20).judge(asked('two', 200, mixture))).toMatch(/mixed/)
})
