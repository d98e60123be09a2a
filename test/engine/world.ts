/** An engine under test with its facts. The oracle is tested in the same way. */
import { expect } from 'vitest'
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

  apply(...changes: readonly Change[]): void {
    this.#judge.apply(changes)
  }

  /** `on` is `type:key`, or `type` alone for a check on the type as a whole. */
  can(user: string, action: string, on: string, tenant: string | null = null): boolean {
    const { type, key } = on.includes(':') ? instanceKey(on) : { type: on, key: null }
    return this.#judge.evaluate({ user, action, type, key, tenant })
  }

  /** Applies each list of changes, and expects the decisions that follow it. */
  follows(steps: readonly Step[]): void {
    for (const step of steps) {
      if (isChanges(step)) this.apply(...step)
      else expect(Object.fromEntries(Object.keys(step).map(text => [text, this.#answer(text)]))).toEqual(step)
    }
  }

  #answer(text: string): boolean {
    const [user, action, on, tenant] = text.split(' ') as [string, string, string, string?]
    return this.can(user, action, on, tenant)
  }
}

/**
 * Changes, or expected decisions by check, such as `alice read document:d1 acme` (the tenant is optional).
 */
type Step = readonly Change[] | Readonly<Record<string, boolean>>

export type Case = readonly [name: string, ...steps: readonly Step[]]

function isChanges(step: Step): step is readonly Change[] {
  return Array.isArray(step)
}
