/**
 * Writes and checks of the fault tests. Users have seats in a ring. Each write takes the next seat or frees
 * the last one, so that the taken seats are always a run of neighbors that moves on:
 *
 *     write    1  2  3  4  5  6        7      8        9      …
 *              seat 1 … seat 5  seat 6  rise 1  seat 7  rise 2
 *
 * One commit takes the seat in two places. Therefore a state shows how many writes it contains, modulo full
 * turns of the ring. A mixture of two states or a partial commit is not such a run in both places.
 */

export const RING_SEATS = 60
const RUN = 5

export interface RingWrite {
  readonly kind: 'seat' | 'rise'
  readonly seat: number
}

/** The write with this number. The first write has the number 1. */
export function ringWrite(number: number): RingWrite {
  if (number <= RUN) return { kind: 'seat', seat: number % RING_SEATS }
  const beyond = number - RUN
  const turn = Math.ceil(beyond / 2)
  return beyond % 2 === 1
    ? { kind: 'seat', seat: (RUN + turn) % RING_SEATS }
    : { kind: 'rise', seat: turn % RING_SEATS }
}

/** Number of writes after which the same seats are taken again. */
export const RING_PERIOD = 2 * RING_SEATS

/** The taken seats after this number of writes. */
function stateAfter(number: number): string {
  const taken = new Set<number>()
  for (let done = Math.max(1, number - RING_PERIOD); done <= number; done += 1) {
    const { kind, seat } = ringWrite(done)
    if (kind === 'seat') taken.add(seat)
    else taken.delete(seat)
  }
  return Array.from({ length: RING_SEATS }, (_, seat) => (taken.has(seat) ? '1' : '0')).join('')
}

/** For each state, the smallest number of writes that leads to it, and whether it occurs again later. */
const STATES = new Map<string, { readonly first: number; readonly isRepeated: boolean }>()
for (let number = 0; number < RUN + RING_PERIOD; number += 1) {
  STATES.set(stateAfter(number), { first: number, isRepeated: number >= RUN })
}

/** Decisions of a node for every seat in both places. */
export type SeatAnswers = readonly { readonly first: boolean; readonly second: boolean }[]

/** Counts of writes from `least` to `most` that lead to these decisions, or null if none can. */
export function writesBehind(answers: SeatAnswers, least: number, most: number): number[] | null {
  if (answers.some(({ first, second }) => first !== second)) return null
  const state = STATES.get(answers.map(({ first }) => (first ? '1' : '0')).join(''))
  if (!state) return null
  const numbers: number[] = []
  for (let number = state.first; number <= most; number += RING_PERIOD) {
    if (number >= least) numbers.push(number)
    if (!state.isRepeated) break
  }
  return numbers
}
