/**
 * What the fault tests write and ask. Users sit in a ring; each write seats the next one, or makes the last in the row
 * rise, so that the seats taken are always a run of neighbours that moves on:
 *
 *     write    1  2  3  4  5  6        7      8        9      …
 *              seat 1 … seat 5  seat 6  rise 1  seat 7  rise 2
 *
 * Everybody is seated in two places by one commit. Hence a state tells by itself how many writes are in it, up to a full
 * turn of the ring; and one that is mixed of two states, or has half a commit, is no run in both places.
 */

export const RING_SEATS = 60
const RUN = 5

export interface RingWrite {
  readonly kind: 'seat' | 'rise'
  readonly seat: number
}

/** The write of that number, from 1. */
export function ringWrite(number: number): RingWrite {
  if (number <= RUN) return { kind: 'seat', seat: number % RING_SEATS }
  const beyond = number - RUN
  const turn = Math.ceil(beyond / 2)
  return beyond % 2 === 1
    ? { kind: 'seat', seat: (RUN + turn) % RING_SEATS }
    : { kind: 'rise', seat: turn % RING_SEATS }
}

/** Writes after which the seats taken are the same again. */
export const RING_PERIOD = 2 * RING_SEATS

/** The seats taken after so many writes, as `readState` takes them. */
function stateAfter(number: number): string {
  const taken = new Set<number>()
  for (let done = Math.max(1, number - RING_PERIOD); done <= number; done += 1) {
    const { kind, seat } = ringWrite(done)
    if (kind === 'seat') taken.add(seat)
    else taken.delete(seat)
  }
  return Array.from({ length: RING_SEATS }, (_, seat) => (taken.has(seat) ? '1' : '0')).join('')
}

/** By state: the first number of writes that leads to it, and whether more and more turns do as well. */
const STATES = new Map<string, { readonly first: number; readonly isRepeated: boolean }>()
for (let number = 0; number < RUN + RING_PERIOD; number += 1) {
  STATES.set(stateAfter(number), { first: number, isRepeated: number >= RUN })
}

/** What a node answered of every seat in both places. */
export type SeatAnswers = readonly { readonly first: boolean; readonly second: boolean }[]

/** The numbers of writes, from `least` to `most`, that lead to these answers, ascending; null: they are no state at all. */
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
