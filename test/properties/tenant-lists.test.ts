/** Lists of tenants on random worlds contain a tenant if and only if the oracle allows the action in it. */
import { describe, expect, test } from 'vitest'
import { listAllowedTenants, listUserTenants } from '#decisions/lists/tenant-lists.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'
import type { DecisionEngine } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import type { History } from '#testing/oracle/random-history.ts'
import { historiesWithRules } from '#testing/oracle/random-rules.ts'
import { ENGINES, STRAINED_ENGINES } from '../engine/engines.ts'
import { holdsFor, onceFor } from './seeded.ts'

const RUNS = 10
const limits = { entriesMax: 1_000, bytesMax: 1_000_000 }

interface Tenant {
  readonly key: string
  readonly attributes: unknown
}

/** Returns the value as it is read from JSON, which has no negative zero. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** In each state: tenants in which each query is allowed, and tenants in which each user has a role. */
const judged = onceFor(({ load, commits, queries }: History) => {
  const oracle = new Oracle()
  const withoutRules = new Oracle()
  return [load, ...commits].map(changes => {
    oracle.apply(changes)
    withoutRules.apply(changes.filter(({ kind }) => kind !== 'rule-put'))
    const facts = oracle.currentFacts()
    const stored: Tenant[] = facts.flatMap(fact =>
      fact.kind === 'tenant-put' ? [{ key: fact.tenant, attributes: asJson(fact.attributes ?? {}) }] : [],
    )
    const tenants = stored.toSorted((left, right) => compareUtf8(left.key, right.key))
    const allowing = (judge: Oracle, query: Query) =>
      tenants.filter(({ key }) => judge.evaluate({ ...query, tenant: key }))
    return queries.map(query => ({
      allowing: allowing(oracle, query),
      byRoles: allowing(withoutRules, query),
      held: tenants.filter(({ key }) =>
        facts.some(
          fact =>
            fact.kind === 'assignment-put' &&
            fact.user === query.user &&
            'tenant' in fact.scope &&
            fact.scope.tenant === key,
        ),
      ),
    }))
  })
})

function allowed(engine: DecisionEngine, query: Query): unknown {
  const json = runAtOnce(
    listAllowedTenants(engine, { kind: 'allowed-tenants', query: sendable(query), limits }),
  )
  return JSON.parse(Buffer.from(json).toString())
}

function held(engine: DecisionEngine, user: string): unknown {
  return JSON.parse(
    Buffer.from(runAtOnce(listUserTenants(engine, { kind: 'user-tenants', user, limits }))).toString(),
  )
}

describe.each([...ENGINES, ...STRAINED_ENGINES])('$name', ({ newEngine, share }) => {
  test('lists the tenants in which the oracle allows the action, and those in which the user has a role', () => {
    const met = { byRoles: 0, byRules: 0, nowhere: 0, inSome: 0, held: 0 }
    const run = { runs: RUNS, share, met, least: { byRoles: 1, byRules: 1, nowhere: 1, inSome: 1, held: 1 } }
    holdsFor(historiesWithRules({ commits: 2, queries: 6 }), run, history => {
      const { load, commits, queries } = history
      const engine = newEngine()
      for (const [index, changes] of [load, ...commits].entries()) {
        engine.apply(changes)
        for (const [number, expected] of judged(history)[index]!.entries()) {
          const query = queries[number]!
          const tenants = expected.allowing.map(tenant => ({ allow: true, result: true, tenant }))
          expect(allowed(engine, query)).toEqual({ allowed_tenants: tenants })
          expect(held(engine, query.user)).toEqual(expected.held)
          met.byRoles += expected.byRoles.length
          met.byRules += expected.allowing.length - expected.byRoles.length
          met.held += expected.held.length
          if (expected.allowing.length === 0) met.nowhere++
          else met.inSome++
        }
      }
    })
  })
})
