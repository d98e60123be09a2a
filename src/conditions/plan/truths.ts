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

/** Truths that are computed when they are read, because most conditions need only one of them. */
function lazy(truth: (isWanted: boolean) => Formula): Truths {
  return {
    get isTrue() {
      return truth(true)
    },
    get isFalse() {
      return truth(false)
    },
  }
}

function when(truths: Truths, isWanted: boolean): Formula {
  return isWanted ? truths.isTrue : truths.isFalse
}

export function negatedTruths(truths: Truths): Truths {
  return lazy(isWanted => when(truths, !isWanted))
}

/** A state of the columns of a row, and the pair in this state. */
export interface InState {
  readonly state: Formula
  readonly truths: Truths
}

/** Combines the pairs of states that exclude each other. */
export function inStates(all: readonly InState[]): Truths {
  if (all.length === 1 && all[0]!.state === true) return all[0]!.truths
  return lazy(isWanted => or(all.map(({ state, truths }) => and([state, when(truths, isWanted)]))))
}

export function allTruths(items: readonly Truths[]): Truths {
  return lazy(isWanted => (isWanted ? and : or)(items.map(item => when(item, isWanted))))
}

export function anyTruths(items: readonly Truths[]): Truths {
  return lazy(isWanted => (isWanted ? or : and)(items.map(item => when(item, isWanted))))
}
