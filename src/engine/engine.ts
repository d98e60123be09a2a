/**
 * The engine's façade: what other layers know of it. One engine answers for one environment, at the state left by
 * the last `apply`. Pure and synchronous: no clock, no I/O, no randomness that an answer could depend on.
 */
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'

export interface Engine {
  /**
   * Applies the changes of one commit, in order; whoever asks sees all of them or none.
   * Throws only on a broken invariant.
   */
  apply(changes: Iterable<Change>): void
  /**
   * May `query.user` do `query.action` there? Decides by contract A.2 and C.2: tenant roles in the question's
   * tenant, then roles on the instance, direct, through groups and derived. Unknown names are a plain `false`.
   */
  evaluate(query: Query): boolean
  /** Each query answered as by `evaluate`, in order, all at one state. */
  evaluateAll(queries: readonly Query[]): boolean[]
}
