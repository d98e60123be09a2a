/**
 * A world under test: somebody who judges (an engine, or the oracle itself), fed with changes and asked in words.
 *
 * Specifications run against every judge of `JUDGES`, so that the oracle, which judges engines elsewhere, is itself
 * held to what the contract says.
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

  /** From now on this holds, too. */
  apply(...changes: readonly Change[]): void {
    this.#judge.apply(changes)
  }

  /** `on` is `type:key`, or `type` alone for the question about the type as a whole. */
  can(user: string, action: string, on: string, tenant: string | null = null): boolean {
    const { type, key } = on.includes(':') ? instanceKey(on) : { type: on, key: null }
    return this.#judge.evaluate({ user, action, type, key, tenant })
  }
}
