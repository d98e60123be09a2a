/**
 * The steps of a search with rules are limited, whatever the rules: in total, per slice and in preparation.
 */
import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { RuleEvaluation } from '#engine/shared-index/check/rule-evaluation.ts'
import { LISTS_MAX } from '#engine/shared-index/attribute-index/list-directory.ts'
import { RequiredLists } from '#engine/shared-index/attribute-index/required-lists.ts'
import { CandidateFinder } from '#engine/shared-index/ruled-search/candidates.ts'
import { RuleJournal, type CurrentRule } from '#engine/shared-index/rules/rule-journal.ts'
import {
  type KeySource,
  mergedKeys,
  PASSED_A_KEY,
  type Stretch,
} from '#engine/shared-index/ruled-search/merged-keys.ts'
import type { Change, ConditionSetPut, RuleChange } from '#model/change.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { conditionSet, ruleOf } from '#testing/engines/changes.ts'
import { searchUsers } from '#testing/engines/listed.ts'
import { ListingEngine } from '#testing/engines/shared-engine.ts'
import { holdsFor } from '../../../properties/seeded.ts'

/** A source of keys that counts the entries that are read. Entries with `counts: false` are skipped. */
class CountedSource implements KeySource {
  readonly #entries: readonly { readonly key: string; readonly counts: boolean }[]
  read = 0

  constructor(entries: readonly { readonly key: string; readonly counts: boolean }[]) {
    this.#entries = entries
  }

  behind(after: string | null, wanted: number): Stretch {
    const rest = this.#entries.filter(({ key }) => after === null || compareUtf8(key, after) > 0)
    const looked = rest.slice(0, wanted)
    this.read += looked.length
    const keys = looked.filter(({ counts }) => counts).map(({ key }) => key)
    const last = looked.length < rest.length ? looked.at(-1)!.key : null
    return { keys, last, passed: looked.length - keys.length }
  }
}

function sourceOf(keys: readonly string[]): CountedSource {
  return new CountedSource(keys.map(key => ({ key, counts: true })))
}

function numbered(count: number, step = 1, from = 0): string[] {
  return Array.from({ length: count }, (_, n) => `k${String(from + n * step).padStart(6, '0')}`)
}

test('keys of many sources are merged in order, each once, in chunks of any size', () => {
  const key = fc.constantFrom(...numbered(30), 'é', '鍵', '😀', '')
  const entries = fc.uniqueArray(fc.record({ key, counts: fc.boolean() }), {
    selector: entry => entry.key,
    maxLength: 20,
  })
  const merges = fc.tuple(fc.array(entries, { maxLength: 6 }), fc.integer({ min: 1, max: 9 }))
  holdsFor(merges, 500, ([all, wanted]) => {
    const sources = all.map(
      each => new CountedSource(each.toSorted((left, right) => compareUtf8(left.key, right.key))),
    )
    const expected = new Set(all.flat().flatMap(({ key: name, counts }) => (counts ? [name] : [])))
    const found: string[] = []
    for (let after: string | null = null, turns = 0; ; turns += 1) {
      const { keys, last } = mergedKeys(sources, after, wanted)
      expect(keys.length).toBeLessThanOrEqual(wanted)
      found.push(...keys)
      if (last === null) break
      expect(after === null || compareUtf8(last, after) > 0).toBe(true)
      expect(turns).toBeLessThan(1_000)
      after = last
    }
    expect(found).toEqual([...expected].toSorted(compareUtf8))
  })
})

test('merging many sources reads few entries beyond the requested keys', () => {
  const apart = Array.from({ length: 100 }, (_, n) => sourceOf(numbered(1_000, 100, n)))
  expect(mergedKeys(apart, null, 128).keys).toEqual(numbered(128))
  expect(apart.reduce((sum, { read }) => sum + read, 0)).toBeLessThan(1_000)
  // All requested keys are in the first source.
  const [first, ...others] = [sourceOf(numbered(1_000)), ...numbered(99).map(() => sourceOf(['z']))]
  expect(mergedKeys([...others, first!], null, 128).keys).toEqual(numbered(128))
  expect(first!.read).toBeLessThan(300)
})

test('a chunk ends early if its keys are in all sources or its entries are skipped', () => {
  const wanted = 8
  const same = Array.from({ length: 100 }, () => sourceOf(numbered(1_000)))
  const { keys, last } = mergedKeys(same, null, wanted)
  expect([keys.length > 0, keys.length < wanted, last]).toEqual([true, true, keys.at(-1)])
  expect(same.reduce((sum, { read }) => sum + read, 0)).toBeLessThan(100 * 2 * wanted)
  const none = new CountedSource(numbered(10_000).map(key => ({ key, counts: false })))
  const passed = mergedKeys([none], null, wanted)
  expect(passed.keys).toEqual([])
  expect(passed.passed).toBe(none.read)
  expect(none.read).toBeLessThan(4 * PASSED_A_KEY * wanted)
})

const STANDING: readonly Change[] = [
  { kind: 'type-put', type: 'document', actions: ['read'] },
  { kind: 'tenant-put', tenant: 'default', attributes: null },
]
const asked = { action: 'read', type: 'document', key: null, tenant: 'default' }

const OF_RESOURCES = { side: 'resource' } as const

const rule = (userSet: string, resourceSet = 'any') => ruleOf(userSet, resourceSet)

/** Steps of each slice of a page, and steps of the most expensive check. */
function stepsOf(page: Generator<void, unknown>): {
  readonly turns: readonly number[]
  readonly dearest: number
} {
  const turns: number[] = []
  let dearest = 0
  const { decide } = RuleEvaluation.prototype
  const spy = vi.spyOn(RuleEvaluation.prototype, 'decide').mockImplementation(function (
    this: RuleEvaluation,
    question,
  ) {
    const before = this.steps
    const outcome = decide.call(this, question)
    dearest = Math.max(dearest, this.steps - before)
    turns[turns.length - 1]! += this.steps - before
    return outcome
  })
  try {
    do turns.push(0)
    while (!page.next().done)
  } finally {
    spy.mockRestore()
  }
  return { turns, dearest }
}

test('a slice and a page end after an expensive check, even if all checks before it were cheap', () => {
  const engine = new ListingEngine(Infinity)
  const dear = Array.from({ length: 1_000 }, (_, n) => ({ n }))
  const user = (n: number): Change => {
    const attributes = { tags: n < 500 ? [] : dear }
    return { kind: 'user-put', user: `u${1_000 + n}`, attributes }
  }
  engine.apply([
    ...STANDING,
    ...Array.from({ length: 700 }, (_, n) => user(n)),
    conditionSet('any', {}, OF_RESOURCES),
    conditionSet('tagged', {
      anyOf: Array.from({ length: 60 }, (_, n) => ({ 'user.tags': { array_intersect: [`w${n}`] } })),
    }),
    rule('tagged'),
  ])
  const page = engine.searchUsers(asked, { after: null, limit: 100, triedMax: 700 })
  const { turns, dearest } = stepsOf(page)
  expect(dearest).toBeGreaterThan(50_000)
  expect(Math.max(...turns)).toBeLessThanOrEqual(50_000 + dearest)
  expect(turns.reduce((sum, steps) => sum + steps, 0)).toBeLessThanOrEqual(2_000_000 + dearest)
})

/** Returns the number of posting lists by which the search finds users, or null if it tries all users. */
function foundBy(sets: readonly ConditionSetPut[], rules: readonly Change[]): number | null {
  const engine = new ListingEngine(Infinity)
  engine.apply([...STANDING, { kind: 'user-put', user: 'ann', attributes: { team: 't1', age: 30 } }])
  engine.apply([conditionSet('any', {}, OF_RESOURCES), ...sets, ...rules])
  const find = vi.spyOn(CandidateFinder.prototype, 'find')
  try {
    expect(searchUsers(engine, asked, { after: null, limit: 10 }).keys).toEqual(['ann'])
    const { value } = find.mock.results[0]!
    if (value === 'all') return null
    return (value as Exclude<ReturnType<CandidateFinder['find']>, string>).ranges.length
  } finally {
    find.mockRestore()
  }
}

test('a search tries all users if the rules have more values than the limit', () => {
  const teams = Array.from({ length: 60 }, (_, n) => `t${n}`)
  const sets = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      conditionSet(`s${n}`, { 'user.team': { in: teams }, 'user.age': { 'greater-than': n % 20 } }),
    )
  const rules = (count: number) => Array.from({ length: count }, (_, n) => rule(`s${n}`))
  // One more list contains the users whose values are not indexed.
  expect(foundBy(sets(300), rules(300))).toBe(teams.length + 1)
  expect(foundBy(sets(400), rules(400))).toBeNull()
})

test('a search evaluates a set only once, even if many rules use it', () => {
  const teams = Array.from({ length: 60 }, (_, n) => `t${n}`)
  const resources = Array.from({ length: 1_000 }, (_, n) => conditionSet(`r${n}`, {}, OF_RESOURCES))
  const user = conditionSet('teams', { 'user.team': { in: teams } })
  const rules = resources.map(({ set: resource }) => rule('teams', resource))
  expect(foundBy([user, ...resources], rules)).toBe(teams.length + 1)
})

function follow(
  wanted: RequiredLists,
  sets: readonly ConditionSetPut[],
  rules: readonly RuleChange[],
): readonly [CurrentRule[], number] {
  const { journal, standing } = journalOf(sets, rules)
  const work = wanted.follow(journal)
  for (let steps = 0; ; steps += 1) if (work.next().done) return [standing, steps]
}

function journalOf(sets: readonly ConditionSetPut[], rules: readonly RuleChange[]) {
  const journal = new RuleJournal()
  for (const put of sets) journal.sets.set(put.set, put)
  const standing = rules.map((each): CurrentRule => ({ name: '', permission: '', rule: each }))
  for (const each of standing) journal.noteRule(each, true)
  return { journal, standing }
}

/** Returns the number of steps to find the lists that the rules require, and the number of lists. */
function stepsToFind(
  sets: readonly ConditionSetPut[],
  rules: readonly RuleChange[],
): readonly [number, number] {
  const wanted = new RequiredLists()
  const [, steps] = follow(wanted, sets, rules)
  return [steps, wanted.lists()!.length]
}

test('the required posting lists are determined in short steps, and each set is evaluated only once', () => {
  const attributes = (from: number) => ({
    anyOf: Array.from({ length: 900 }, (_, n) => ({ [`user.a${from + n}`]: { equals: 1 } })),
  })
  const few = Array.from({ length: 20 }, (_, n) => conditionSet(`u${n}`, attributes(n)))
  const many = Array.from({ length: 5_000 }, (_, n) => conditionSet(`r${n}`, {}, OF_RESOURCES))
  const sets = [...few, ...many]
  // At first, each set is read in one step.
  const [, wanted] = stepsToFind(sets, [rule('u0', 'r0')])
  expect(wanted).toBe(LISTS_MAX)
  const [before] = stepsToFind(sets, [rule('u0', 'r0')])
  const [shared] = stepsToFind(
    sets,
    many.map(({ set: resource }) => rule('u0', resource)),
  )
  expect(shared - before).toBeLessThan(20)
  const [different] = stepsToFind(
    sets,
    few.map(({ set: user }) => rule(user, 'r0')),
  )
  expect(different - before).toBeGreaterThan(15)
})

test('the required posting lists are updated correctly after changes of rules and sets in any order', () => {
  const sets = [
    conditionSet('above', { 'user.above': { equals: 1 } }),
    conditionSet('below', { 'user.below': { equals: 1 } }, { parent: 'above' }),
    conditionSet('other', { 'user.other': { equals: 1 } }),
    conditionSet('part', { 'resource.part': { equals: { ref: 'user.part' } } }, OF_RESOURCES),
  ]
  const rules = [rule('below', 'part'), rule('other', 'part'), rule('below', 'part')]
  const wanted = new RequiredLists()
  const names = () =>
    wanted
      .lists()
      ?.map(({ type, name }) => `${type} ${name}`)
      .toSorted() ?? null
  const [standing] = follow(wanted, [], rules.slice(0, 2))
  const scans = names()
  expect(scans).toHaveLength(3)
  follow(wanted, sets, [])
  const all = names()!
  const added = all.filter(name => !scans!.includes(name))
  expect(added).toHaveLength(5)
  // Another rule that requires no other list changes nothing.
  const [more] = follow(wanted, [], rules.slice(2))
  expect(names()).toBeNull()
  const remove = (...gone: readonly CurrentRule[]) => {
    const journal = new RuleJournal()
    for (const each of gone) journal.noteRule(each, false)
    for (const _ of wanted.follow(journal));
  }
  remove(standing[1]!)
  expect(names()).toHaveLength(all.length - 1)
  remove(standing[0]!)
  expect(names()).toBeNull()
  follow(wanted, [conditionSet('below', { 'user.below': { equals: 1 } })], [])
  expect(names()).toHaveLength(all.length - 2)
  remove(more[0]!)
  expect(names()).toEqual([])
})
