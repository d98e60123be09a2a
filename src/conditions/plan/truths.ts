/**
 * Pairs of formulas: when a test is true, and when it is false. For rows in which neither holds, the test is
 * unknown (filter.md, section 4).
 */
import { and, type Formula, or } from './formula.ts'
import { TRUE, type Truth, UNKNOWN } from '#conditions/values/truth.ts'

export interface Truths {
  readonly isTrue: Formula
  readonly isFalse: Formula
}

export const ALWAYS: Truths = { isTrue: true, isFalse: false }
export const NEVER: Truths = { isTrue: false, isFalse: true }
export const NEITHER: Truths = { isTrue: false, isFalse: false }

export function truthsOf(truth: Truth): Truths {
  return truth === UNKNOWN ? NEITHER : truth === TRUE ? ALWAYS : NEVER
}

export function negatedTruths({ isTrue, isFalse }: Truths): Truths {
  return { isTrue: isFalse, isFalse: isTrue }
}

/** A state of the columns of a row, and the pair in this state. */
export interface InState {
  readonly state: Formula
  readonly truths: Truths
}

/** Combines the pairs of states that exclude each other. */
export function inStates(all: readonly InState[]): Truths {
  if (all.length === 1 && all[0]!.state === true) return all[0]!.truths
  return {
    isTrue: or(all.map(({ state, truths }) => and([state, truths.isTrue]))),
    isFalse: or(all.map(({ state, truths }) => and([state, truths.isFalse]))),
  }
}

export function allTruths(items: readonly Truths[]): Truths {
  return {
    isTrue: and(items.map(({ isTrue }) => isTrue)),
    isFalse: or(items.map(({ isFalse }) => isFalse)),
  }
}

export function anyTruths(items: readonly Truths[]): Truths {
  return {
    isTrue: or(items.map(({ isTrue }) => isTrue)),
    isFalse: and(items.map(({ isFalse }) => isFalse)),
  }
}
