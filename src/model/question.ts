/**
 * A question: the checks of one request, as text (`TextQuestion`) or as the bytes of its body
 * (`PackedQueries`).
 */
import type { Query } from './decision.ts'
import type { PackedQueries } from './packed-queries.ts'

/**
 * Both forms have the same members, so that only the engine, which looks up the keys, distinguishes them.
 * Everything that a check carries beyond its names is part of its `QueryContext`.
 */
export type Question = TextQuestion | PackedQueries

/** Decisions in the order of the checks of a question: 1 for allow and 0 for deny. */
export type Verdicts = Uint8Array

/** Checks that were parsed. */
export class TextQuestion {
  readonly checks: readonly Query[]
  /** Whether the request contains one check, and not a list. */
  readonly isSingle: boolean
  /** Number of checks that are not about a user, and therefore are not counted as decisions. */
  readonly nonUserCount = 0

  constructor(checks: readonly Query[], { isSingle }: { readonly isSingle: boolean } = { isSingle: false }) {
    this.checks = checks
    this.isSingle = isSingle
  }

  static single(check: Query): TextQuestion {
    return new TextQuestion([check], { isSingle: true })
  }

  get count(): number {
    return this.checks.length
  }

  query(index: number): Query {
    return this.checks[index]!
  }

  /** Returns a range of the checks. */
  part(from: number, count: number): TextQuestion {
    return new TextQuestion(this.checks.slice(from, from + count))
  }

  /** Returns a question that stays valid after the request. */
  detached(): TextQuestion {
    return this
  }
}
