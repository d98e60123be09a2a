/**
 * One model, every endpoint: random models loaded over the management API into a running service, whose answers then
 * agree with each other and with the oracle. What engine and oracle agree on elsewhere must survive the way through
 * management, store, threads, mapping, paging and JSON.
 */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Query } from '#model/decision.ts'
import { compareUtf8 } from '#model/utf8-order.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { histories } from '#testing/oracle/random-history.ts'
import { StandingWorld } from '#testing/oracle/standing-world.ts'
import { howToRepeat, seed } from '../properties/seeded.ts'
import { ACTIONS, EVALUATION, EVALUATIONS, RESOURCES_FOUND, SUBJECTS } from '../support/access-requests.ts'
import { asManageable, loadModel } from '#testing/requests/load-model.ts'
import { type Client, startedService } from '#testing/processes/running-service.ts'

const MODELS = 4
/** Every so many questions go through the slower checks: single decisions, pages of every size. */
const SAMPLED = 7

interface Model {
  readonly client: Client
  readonly oracle: Oracle
  readonly world: StandingWorld
  /** Everything that can be asked about what there is, and some of what there is not. */
  readonly table: readonly Query[]
}

async function loadedModel(index: number): Promise<Model> {
  const [history] = fc.sample(histories({ commits: 0, queries: 0 }), { seed: seed + index, numRuns: 1 })
  const oracle = new Oracle()
  oracle.apply(asManageable(structuredClone(history!.load)))
  const facts = oracle.standingFacts()
  const client = await startedService()
  await loadModel(async (method, path, body) => {
    const answer = await client.send(method, path, { body })
    expect(answer.status, `${method} ${path} ${JSON.stringify([body, answer.body])}`).toBe(200)
  }, facts)
  const world = new StandingWorld(facts)
  const types = facts.flatMap(fact => (fact.kind === 'type-put' ? [fact.type] : []))
  const tenants = facts.flatMap(fact => (fact.kind === 'tenant-put' ? [fact.tenant] : []))
  const table = [...types, 'castle'].flatMap(type =>
    [...world.actionsOf(type), 'fly'].flatMap(action =>
      [...world.keysOf(type), 'unheard-of', null].flatMap(key =>
        [...world.users, 'stranger'].flatMap(user =>
          [null, ...tenants, 'nowhere'].map(tenant => ({ user, action, type, key, tenant })),
        ),
      ),
    ),
  )
  return { client, oracle, world, table }
}

function nativeQuestion({ user, action, type, key, tenant }: Query) {
  return { user: { key: user }, action, resource: { type, key, tenant } }
}

/** Also as a search, which ignores what it searches for. */
function accessRequest({ user, action, type, key, tenant }: Query) {
  return {
    subject: { type: 'user', id: user },
    action: { name: action },
    resource: { type, id: key, properties: { tenant } },
  }
}

async function asked<Body>(client: Client, path: string, body: unknown): Promise<Body> {
  const answer = await client.post<Body>(path, body)
  expect(answer.status, `${path} ${JSON.stringify([body, answer.body])}`).toBe(200)
  return answer.body
}

interface Page {
  readonly page: { readonly next_token: string; readonly count: number; readonly total: number }
  readonly results: readonly { readonly id?: string; readonly name?: string }[]
}

/** All results, walked in pages of a size; null: as many as the service likes. */
async function walk(client: Client, path: string, body: object, limit: number | null): Promise<string[]> {
  const found: string[] = []
  for (let page: object = { limit }; ;) {
    const answer: Page = await asked(client, path, { ...body, page })
    expect(answer.page.count).toBe(answer.results.length)
    found.push(...answer.results.map(({ id, name }) => id ?? name!))
    if (answer.page.next_token === '') {
      expect(answer.page.total).toBe(found.length)
      return found
    }
    page = { token: answer.page.next_token }
  }
}

/** Runs them a few at a time. */
async function forEach<Item>(
  items: readonly Item[],
  run: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const rest = items.entries()
  const takeAll = async () => {
    for (const [index, item] of rest) await run(item, index)
  }
  await Promise.all(Array.from({ length: 8 }, takeAll))
}

/** The questions that differ in what the name says is left open, each once, with the answers for all that could be there. */
function grouped(table: readonly Query[], open: keyof Query): Query[][] {
  return [...Map.groupBy(table, query => JSON.stringify({ ...query, [open]: '' })).values()]
}

describe.each(Array.from({ length: MODELS }, (_, index) => index))(
  `random model %i of seed ${seed}`,
  index => {
    test('is answered alike by every endpoint', async () => {
      const { client, oracle, world, table } = await loadedModel(index)
      const right = new Map(table.map(query => [query, oracle.evaluate(query)]))
      const isStored = ({ type, key }: Query) => key !== null && world.keysOf(type).includes(key)

      const { allow } = await asked<{ allow: { allow: boolean }[] }>(
        client,
        '/allowed/bulk',
        table.map(nativeQuestion),
      )
      expect(
        allow.map(result => result.allow),
        howToRepeat,
      ).toEqual([...right.values()])
      const batch = { evaluations: table.map(accessRequest) }
      const { evaluations } = await asked<{ evaluations: object[] }>(client, EVALUATIONS, batch)
      expect(evaluations, howToRepeat).toEqual([...right.values()].map(decision => ({ decision })))
      await forEach(
        table.filter((_, at) => at % SAMPLED === 0),
        async query => {
          const allowed = right.get(query)
          expect(await asked(client, '/allowed', nativeQuestion(query))).toEqual({
            allow: allowed,
            result: allowed,
          })
          expect(await asked(client, EVALUATION, accessRequest(query))).toEqual({ decision: allowed })
        },
      )

      const searches: readonly [string, keyof Query, (query: Query) => boolean][] = [
        [RESOURCES_FOUND, 'key', isStored],
        [SUBJECTS, 'user', ({ user }) => user !== 'stranger'],
        [ACTIONS, 'action', ({ action }) => action !== 'fly'],
      ]
      for (const [path, open, isKnown] of searches) {
        await forEach(grouped(table, open), async (queries, at) => {
          const [first] = queries as [Query]
          // Only an evaluation may leave the id of a resource out.
          if (path !== RESOURCES_FOUND && first.key === null) return
          const expected = queries
            .filter(query => isKnown(query) && right.get(query))
            .map(query => String(query[open]))
          const ordered = expected.toSorted(compareUtf8)
          const sizes =
            at % SAMPLED === 0 ? Array.from({ length: ordered.length + 1 }, (_, size) => size + 1) : []
          for (const limit of [null, ...sizes]) {
            expect(await walk(client, path, accessRequest(first), limit), howToRepeat).toEqual(ordered)
          }
        })
      }

      await forEach(grouped(table, 'user'), async (queries, at) => {
        if (at % 2 === 1) return
        const [first] = queries as [Query]
        const { action, resource } = nativeQuestion(first)
        const { users } = await asked<{ users: object }>(client, '/authorized_users', { action, resource })
        const expected = queries.filter(query => right.get(query)).map(({ user }) => user)
        expect(Object.keys(users).toSorted(compareUtf8), howToRepeat).toEqual(expected.toSorted(compareUtf8))
        const { user: _, ...question } = first
        const grants = world.grantsOn(question, user => expected.includes(user))
        expect(Object.values(users).flat().length).toBe(grants.length)
      })

      for (const user of world.users) {
        const listing = await asked<Record<string, { permissions: string[] }>>(client, '/user-permissions', {
          user: { key: user },
        })
        const holds = (name: string, query: Query) =>
          Object.hasOwn(listing, name) && listing[name]!.permissions.includes(`${query.action}:${query.type}`)
        for (const query of table.filter(
          each => each.user === user && isStored(each) && each.tenant === null,
        )) {
          const home = world.tenantOf({ type: query.type, key: query.key! })
          const isListed = holds(`${query.type}:${query.key}`, query) || holds(`__tenant:${home}`, query)
          expect(isListed, `${howToRepeat}: ${JSON.stringify(query)}`).toBe(right.get(query))
        }
        const instances = world.instanceRolesOf(oracle.effectiveRoles(user))
        const names = instances.map(({ instance: { type, key } }) => `${type}:${key}`)
        const tenants = world.tenantRolesOf(user).map(({ tenant }) => `__tenant:${tenant}`)
        expect(Object.keys(listing).toSorted(), howToRepeat).toEqual([...names, ...tenants].toSorted())
      }
    })
  },
)
