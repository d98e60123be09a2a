/** The oracle, with a cache of each user's roles, which is valid until facts change. */
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { Oracle, type EffectiveRole } from './oracle.ts'

export class MemoizedOracle {
  readonly oracle = new Oracle()
  readonly #roles = new Map<string, readonly EffectiveRole[]>()

  apply(changes: Iterable<Change>): void {
    this.#roles.clear()
    this.oracle.apply(changes)
  }

  evaluate(query: Query): boolean {
    return this.oracle.evaluate(query, user => {
      let roles = this.#roles.get(user)
      if (!roles) this.#roles.set(user, (roles = this.oracle.effectiveRoles(user)))
      return roles
    })
  }
}
