/**
 * A world under test: a judge (an engine, or the oracle itself) that takes changes and is asked in words.
 *
 * Specifications run against every judge of `JUDGES`, so the oracle, which judges engines elsewhere, must
 * fulfil the contract too.
 */
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { instanceKey } from '#testing/engines/changes.ts'
import { ENGINES } from './engines.ts'

export interface Judge {
  apply(changes: Iterable<Change>): void
  evaluate(query: Query): boolean
}

export const JUDGES: readonly { readonly name: string; readonly newJudge: () => Judge }[] = [
  ...ENGINES.map(({ name, newEngine }) => ({ name, newJudge: newEngine })),
  { name: 'the oracle', newJudge: () => new Oracle() },
]

export class World {
  readonly #judge: Judge

  constructor(judge: Judge, ...facts: readonly Change[]) {
    this.#judge = judge
    judge.apply(facts)
  }

  /** Applies further changes. */
  apply(...changes: readonly Change[]): void {
    this.#judge.apply(changes)
  }

  /** `on` is `type:key`, or `type` alone for the question about the type as a whole. */
  can(user: string, action: string, on: string, tenant: string | null = null): boolean {
    const { type, key } = on.includes(':') ? instanceKey(on) : { type: on, key: null }
    return this.#judge.evaluate({ user, action, type, key, tenant })
  }
}
