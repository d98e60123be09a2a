/** Native lists with rules on random worlds contain exactly what checks allow (conditions.md 8.1 and 8.2). */
import { expect, test } from 'vitest'
import type { Static } from 'typebox'
import { listAuthorizedUsers } from '#decisions/lists/listing.ts'
import { listPermissionEntries } from '#decisions/lists/permission-entries.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'
import { DEFAULT_TENANT, type Query } from '#model/decision.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import type { AuthorizedUsers, UserPermissions } from '#model/wire/decisions/permissions.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { ListingEngine } from '#testing/engines/shared-engine.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import type { History } from '#testing/oracle/random-history.ts'
import { historiesWithRules } from '#testing/oracle/random-rules.ts'
import { StateView } from '#testing/oracle/current-state.ts'
import { holdsFor } from './seeded.ts'

type Listed = Static<typeof UserPermissions>

const limits = { entriesMax: 10_000, bytesMax: Infinity }

function parsed<Body>(bytes: Uint8Array): Body {
  return JSON.parse(Buffer.from(bytes).toString()) as Body
}

test('native lists contain exactly what roles and rules allow, as a whole and in pages', () => {
  const met = { byRules: 0, users: 0 }
  const lists = ({ load, commits, queries }: History): void => {
    const engine = new ListingEngine(Infinity)
    const oracle = new Oracle()
    const withoutRules = new Oracle()
    for (const changes of [load, ...commits]) {
      engine.apply(changes)
      oracle.apply(changes)
      withoutRules.apply(changes.filter(({ kind }) => kind !== 'rule-put'))
      const world = new StateView(oracle.currentFacts())
      for (const query of queries) {
        const { user, type } = query
        const { queryContext, ...bare } = query
        const said = sendable({ ...(queryContext && { queryContext }) }).requestAttributes ?? {
          readAt: 0,
          attributes: NOTHING,
        }
        const list = (page: { number: number; size: number } | null): Listed => {
          const asked = {
            user: { key: user },
            tenants: null,
            resources: null,
            resource_types: [type, '__tenant'],
          }
          const job = {
            kind: 'permissions',
            query: asked,
            limits,
            format: 'action:resource',
            page,
            requestAttributes: said,
          } as const
          return parsed(runAtOnce(listPermissionEntries(engine, job)))
        }
        const whole = list(null)
        const names = Object.keys(whole)
        // A parsed object has numeric names first, unlike its JSON text.
        const ordered = names.toSorted(compareUtf8)
        for (const size of [1, 2, 7]) {
          const paged: Listed = {}
          for (let number = 1; number <= Math.ceil(ordered.length / size) + 1; number++)
            Object.assign(paged, list({ number, size }))
          expect(paged).toEqual(whole)
        }
        const sent = { readAt: said.readAt, sent: () => said.attributes as never }
        for (const key of world.keysOf(type)) {
          const entry = whole[`${type}:${key}`]
          for (const action of world.actionsOf(type)) {
            const asked: Query = { ...bare, user, action, key, tenant: null, queryContext: sent }
            const isAllowed = oracle.evaluate(asked)
            const isByRoles = withoutRules.evaluate(asked)
            const isListed = entry?.permissions.includes(`${action}:${type}`) ?? false
            // Permissions by tenant roles alone are in the entry of the tenant.
            if (isListed) expect([asked, isAllowed]).toEqual([asked, true])
            if (isAllowed && !isByRoles) {
              expect([asked, isListed]).toEqual([asked, true])
              expect(entry!.userset).not.toEqual([])
              met.byRules += 1
            }
          }
        }
        for (const [name, entry] of Object.entries(whole)) {
          if (!name.startsWith('__tenant:')) continue
          for (const action of world.actionsOf(type)) {
            const asked: Query = {
              ...bare,
              user,
              action,
              key: null,
              tenant: entry.tenant!.key,
              queryContext: sent,
            }
            expect([asked, entry.permissions.includes(`${action}:${type}`)]).toEqual([
              asked,
              oracle.evaluate(asked),
            ])
          }
        }
        const { user: _user, queryContext: _queryContext, ...question } = query
        const found = parsed<Static<typeof AuthorizedUsers>>(
          runAtOnce(
            listAuthorizedUsers(engine, {
              kind: 'authorized-users',
              question: { ...question, requestAttributes: said },
              areRulesAsked: true,
              limits,
            }),
          ),
        )
        const tenant =
          question.tenant ??
          (question.key === null ? null : engine.tenantOf(type, question.key)) ??
          DEFAULT_TENANT
        for (const each of world.users) {
          const asked: Query = { ...question, tenant, user: each, queryContext: sent }
          expect([asked, Object.hasOwn(found.users, each)]).toEqual([asked, oracle.evaluate(asked)])
          met.users += Number(Object.hasOwn(found.users, each))
        }
      }
    }
  }
  const coverage = { met, least: { byRules: 2, users: 5 } }
  holdsFor(historiesWithRules({ commits: 2, queries: 6 }, true), { runs: 25, ...coverage }, lists)
})

const NOTHING = { user: null, resource: null, tenant: null, context: null }
