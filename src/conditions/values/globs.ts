/**
 * Matches globs against a whole string (conditions.md 5.6). `*` is any sequence without `.`, `**` any
 * sequence, `?` one character except `.`, `[abc]`, `[a-z]` and `[!a-z]` one character, `{x,y}` one of several
 * globs. A backslash makes the next character literal.
 *
 * A glob is compiled to a nondeterministic automaton, and all its current states are followed together. The
 * time is linear in characters × states for any glob; backtracking would be exponential.
 */
import type { EvaluationBudget } from './evaluation-budget.ts'
import { GLOB_RANGE_STEPS, GLOB_STATE_STEPS } from './step-costs.ts'
import { FALSE, type Truth, truthOf, UNKNOWN } from './truth.ts'

const GLOB_BYTES_MAX = 512
const ASTERISKS_MAX = 16
const DOT = 0x2e

interface CharacterRange {
  readonly from: number
  readonly to: number
}

/**
 * A state of the automaton. `next` and `other` are numbers of states. A state that consumes a character
 * continues with `next`.
 */
type GlobState =
  | { readonly kind: 'one'; readonly character: number; next: number }
  | { readonly kind: 'any'; readonly exceptDot: boolean; next: number }
  | {
      readonly kind: 'class'
      readonly isNegated: boolean
      readonly ranges: readonly CharacterRange[]
      next: number
    }
  /** A state that consumes no character and continues with both states. */
  | { readonly kind: 'fork'; next: number; other: number }
  | { readonly kind: 'end' }

export class Glob {
  readonly source: string
  readonly #states: readonly GlobState[]
  readonly #start: number
  /** Number of states that were visited for the current character. */
  #visits = 0

  private constructor(source: string, states: readonly GlobState[], start: number) {
    this.source = source
    this.#states = states
    this.#start = start
  }

  /** Parses a glob. If the glob is malformed, returns a description of the problem. */
  static read(source: string): Glob | string {
    if (Buffer.byteLength(source) > GLOB_BYTES_MAX) return `a glob has at most ${GLOB_BYTES_MAX} bytes`
    const parser = new GlobParser(source)
    const problem = parser.problem()
    return problem ?? new Glob(source, parser.states, parser.start)
  }

  /** Returns whether the glob matches, or unknown if the budget is exceeded. O(characters × states). */
  truthOf(text: string, budget: EvaluationBudget): Truth {
    const seenAt = new Int32Array(this.#states.length).fill(-1)
    let standing = this.#reach([this.#start], seenAt, 0)
    let position = 0
    for (const character of text) {
      if (standing.length === 0) return FALSE
      const code = character.codePointAt(0)!
      position++
      const reached: number[] = []
      let steps = this.#visits * GLOB_STATE_STEPS
      for (const index of standing) {
        const state = this.#states[index]!
        if (state.kind === 'class') steps += state.ranges.length * GLOB_RANGE_STEPS
        if (state.kind !== 'fork' && state.kind !== 'end' && takes(state, code)) reached.push(state.next)
      }
      if (!budget.spend(steps)) return UNKNOWN
      standing = this.#reach(reached, seenAt, position)
    }
    return truthOf(standing.some(index => this.#states[index]!.kind === 'end'))
  }

  /** Returns these states, and all states to which forks lead from them, each once. */
  #reach(from: number[], seenAt: Int32Array, position: number): number[] {
    const reached: number[] = []
    this.#visits = 0
    for (let index = from.pop(); index !== undefined; index = from.pop()) {
      this.#visits += 1
      if (seenAt[index] === position) continue
      seenAt[index] = position
      const state = this.#states[index]!
      if (state.kind === 'fork') from.push(state.other, state.next)
      else reached.push(index)
    }
    return reached
  }
}

function takes(state: Exclude<GlobState, { kind: 'fork' | 'end' }>, code: number): boolean {
  switch (state.kind) {
    case 'one':
      return state.character === code
    case 'any':
      return !(state.exceptDot && code === DOT)
    case 'class':
      return state.ranges.some(({ from, to }) => code >= from && code <= to) !== state.isNegated
  }
}

/**
 * Parses a glob and then creates its states from the last to the first, so that the successor of each state
 * already exists.
 */
class GlobParser {
  readonly states: GlobState[] = []
  start = 0
  readonly #characters: number[]
  #position = 0
  #asterisks = 0

  constructor(source: string) {
    this.#characters = Array.from(source, character => character.codePointAt(0)!)
  }

  /** Parses the whole glob. Returns a description of the problem if it is malformed, otherwise `null`. */
  problem(): string | null {
    const parts = this.#sequence(false)
    if (typeof parts === 'string') return parts
    if (this.#asterisks > ASTERISKS_MAX) return `a glob has at most ${ASTERISKS_MAX} asterisks`
    this.start = this.#link(parts, this.#add({ kind: 'end' }))
    return null
  }

  #sequence(isInBraces: boolean): GlobPart[] | string {
    const parts: GlobPart[] = []
    for (;;) {
      const code = this.#characters[this.#position]
      if (code === undefined) return parts
      if (isInBraces && (code === COMMA || code === CLOSING_BRACE)) return parts
      this.#position++
      const part = this.#part(code)
      if (typeof part === 'string') return part
      parts.push(part)
    }
  }

  #part(code: number): GlobPart | string {
    switch (code) {
      case BACKSLASH: {
        const escaped = this.#characters[this.#position++]
        return escaped === undefined ? 'a glob must not end with a backslash' : { character: escaped }
      }
      case ASTERISK: {
        this.#asterisks++
        const isDouble = this.#characters[this.#position] === ASTERISK
        if (isDouble) this.#position++
        if (isDouble) this.#asterisks++
        return { run: isDouble ? 'any' : 'no-dot' }
      }
      case QUESTION_MARK:
        return { one: true }
      case OPENING_BRACKET:
        return this.#class()
      case OPENING_BRACE:
        return this.#choice()
      default:
        return { character: code }
    }
  }

  #class(): GlobPart | string {
    const isNegated = this.#characters[this.#position] === EXCLAMATION_MARK
    if (isNegated) this.#position++
    const ranges: CharacterRange[] = []
    for (;;) {
      if (this.#characters[this.#position] === CLOSING_BRACKET) break
      const from = this.#classCharacter()
      if (from === null) return 'a glob lacks the ] of a class'
      const next = this.#characters[this.#position + 1]
      if (this.#characters[this.#position] === HYPHEN && next !== CLOSING_BRACKET) {
        this.#position++
        const to = this.#classCharacter()
        if (to === null) return 'a glob lacks the ] of a class'
        if (to < from) return 'a glob contains a class with a reversed range'
        ranges.push({ from, to })
      } else {
        ranges.push({ from, to: from })
      }
    }
    this.#position++
    if (ranges.length === 0) return 'a glob contains an empty class'
    return { isNegated, ranges }
  }

  #classCharacter(): number | null {
    const code = this.#characters[this.#position++]
    return (code === BACKSLASH ? this.#characters[this.#position++] : code) ?? null
  }

  #choice(): GlobPart | string {
    const choices: GlobPart[][] = []
    for (;;) {
      const parts = this.#sequence(true)
      if (typeof parts === 'string') return parts
      choices.push(parts)
      const code = this.#characters[this.#position++]
      if (code === undefined) return 'a glob lacks the } of a choice'
      if (code === CLOSING_BRACE) return { choices }
    }
  }

  #add(state: GlobState): number {
    this.states.push(state)
    return this.states.length - 1
  }

  /** Creates the states of these parts. Returns the first state; the last one continues with `next`. */
  #link(parts: readonly GlobPart[], next: number): number {
    let following = next
    for (const part of parts.toReversed()) following = this.#linkOne(part, following)
    return following
  }

  #linkOne(part: GlobPart, next: number): number {
    if ('character' in part) return this.#add({ kind: 'one', character: part.character, next })
    if ('one' in part) return this.#add({ kind: 'any', exceptDot: true, next })
    if ('ranges' in part) return this.#add({ kind: 'class', ...part, next })
    if ('choices' in part) {
      const starts = part.choices.map(choice => this.#link(choice, next))
      return starts.reduce((other, start) => this.#add({ kind: 'fork', next: start, other }))
    }
    const fork = this.#add({ kind: 'fork', next, other: next })
    const loop = this.#add({ kind: 'any', exceptDot: part.run === 'no-dot', next: fork })
    ;(this.states[fork] as Extract<GlobState, { kind: 'fork' }>).other = loop
    return fork
  }
}

type GlobPart =
  | { readonly character: number }
  | { readonly one: true }
  | { readonly run: 'any' | 'no-dot' }
  | { readonly isNegated: boolean; readonly ranges: readonly CharacterRange[] }
  | { readonly choices: readonly (readonly GlobPart[])[] }

const BACKSLASH = 0x5c
const ASTERISK = 0x2a
const QUESTION_MARK = 0x3f
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const EXCLAMATION_MARK = 0x21
const HYPHEN = 0x2d
const COMMA = 0x2c
