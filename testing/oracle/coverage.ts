/**
 * Counts the language features that random checks cover. This detects property tests that have become
 * trivial. Counts how many checks were allowed, and how often each feature was decisive: an oracle without
 * the feature decides differently.
 */
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { MemoizedOracle } from './memoized-oracle.ts'

type RolePut = Extract<Change, { kind: 'role-put' }>

/** For each language feature, a function that removes it from a role. */
const WITHOUT = {
  guard: (r: RolePut) => ({ ...r, derivations: r.derivations.map(d => ({ ...d, guarded: false })) }),
  derivation: (r: RolePut) => ({ ...r, derivations: [] }),
  extension: (r: RolePut) => ({ ...r, extends: [] }),
}
type RuleName = keyof typeof WITHOUT
const RULE_NAMES = Object.keys(WITHOUT) as RuleName[]

export class Coverage {
  checks = 0
  allowed = 0
  /** Number of checks denied only because their tenant is not that of the instance (native.md D-14). */
  deniedByTenant = 0
  readonly decidedBy: Record<RuleName, number> = { guard: 0, derivation: 0, extension: 0 }

  allowedShare(): number {
    return this.allowed / this.checks
  }

  /** Returns an observer of one history. It receives each change, and each check with its decision. */
  follow(): { apply(changes: readonly Change[]): void; count(query: Query, answer: boolean): void } {
    const oracle = new MemoizedOracle()
    const lacking = RULE_NAMES.map(name => ({ name, oracle: new MemoizedOracle() }))
    return {
      apply: changes => {
        oracle.apply(changes)
        for (const { name, oracle: other } of lacking) {
          other.apply(changes.map(change => (change.kind === 'role-put' ? WITHOUT[name](change) : change)))
        }
      },
      count: (query, answer) => {
        this.checks += 1
        if (answer) this.allowed += 1
        if (!answer && oracle.evaluate({ ...query, tenant: null })) this.deniedByTenant += 1
        for (const { name, oracle: other } of lacking) {
          if (other.evaluate(query) !== answer) this.decidedBy[name] += 1
        }
      },
    }
  }
}
