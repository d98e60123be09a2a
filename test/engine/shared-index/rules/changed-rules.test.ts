/** Compiled rules after random changes: lookups find the current rules and no others. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { valueIn, wordsBehind, hashOfScalar, ValueWords } from '#engine/shared-index/memory/values.ts'
import { LOOKUP_WORDS, PLAN } from '#engine/shared-index/rules/rule-code.ts'
import type { PlanView } from '#engine/shared-index/rules/rules-view.ts'
import type { ConditionSetPut, RuleChange } from '#model/change.ts'
import { conditionSet } from '#testing/engines/changes.ts'
import { CompiledRules } from '#testing/engines/compiled-rules.ts'
import { holdsFor } from '../../../properties/seeded.ts'

const TYPE = 'document'
const ACTIONS = ['read', 'write']
const USER_SETS = 40
const RESOURCE_SETS = 3
/** Requirements of a set: for each attribute, the values that match. */
type Demanded = Readonly<Record<string, readonly number[]>>

/** 20 numbers that collide in a small table, and 20 others. */
const VALUES = (() => {
  const words = new ValueWords()
  const alike: number[] = []
  for (let number = 0; alike.length < 20; number++) {
    words.length = 0
    const head = words.scalar(number)
    if (hashOfScalar(head, words.words, 0) >>> 25 === 0) alike.push(number)
  }
  return [...alike, ...Array.from({ length: 20 }, (_, n) => n + 100_000)]
})()

const demanded: fc.Arbitrary<Demanded> = fc.dictionary(
  fc.constantFrom('user.a', 'user.b', 'user.c', 'resource.d'),
  fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 3 }),
  { maxKeys: 2 },
)

type Step =
  | { readonly do: 'set'; readonly set: number; readonly parent: number | null; readonly says: Demanded }
  | { readonly do: 'remove-set'; readonly set: number }
  | { readonly do: 'remove-type' }
  | {
      readonly do: 'rules' | 'remove-rules'
      readonly user: readonly number[]
      readonly resource: number
      readonly action: number
    }
  | { readonly do: 'compile' }

const numberOfSet = fc.nat(USER_SETS - 1)
const ruleSteps = {
  user: fc.uniqueArray(numberOfSet, { minLength: 1, maxLength: 12 }),
  resource: fc.nat(RESOURCE_SETS),
  action: fc.nat(ACTIONS.length - 1),
}
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      set: numberOfSet,
      parent: fc.option(numberOfSet, { freq: 3 }),
      says: demanded,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove-set' as const), set: numberOfSet }) },
  { weight: 1, arbitrary: fc.constant({ do: 'remove-type' as const }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('rules' as const), ...ruleSteps }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove-rules' as const), ...ruleSteps }) },
  { weight: 9, arbitrary: fc.constant({ do: 'compile' as const }) },
)

function conditionsOf(says: Demanded): object {
  return { allOf: Object.entries(says).map(([path, values]) => ({ [path]: { in: values } })) }
}

/** Puts sets of resources. The first set matches any resource, and the other sets have a condition. */
function putResourceSets(all: CompiledRules): void {
  for (let n = 0; n < RESOURCE_SETS; n++) {
    const conditions = n === 0 ? {} : { 'resource.d': { equals: n } }
    all.book.putSet(conditionSet(`r-${n}`, conditions, { side: 'resource', type: n === 0 ? null : TYPE }))
  }
}

/** Makes the change of a step, and records the requirements of the sets. */
function take(
  all: CompiledRules,
  says: Map<string, Demanded>,
  each: Exclude<Step, { readonly do: 'compile' }>,
): void {
  switch (each.do) {
    case 'set': {
      const parent = each.parent === null ? null : `u-${each.parent}`
      const put = conditionSet(`u-${each.set}`, conditionsOf(each.says), { parent })
      if (all.book.putSet(put)) says.set(put.set, each.says)
      return
    }
    case 'remove-set':
      all.book.removeSet(`u-${each.set}`)
      return
    case 'remove-type':
      // The sets of the type are removed with it, so a rule on one of these sets is removed for two reasons.
      all.book.removeType(TYPE, ACTIONS)
      putResourceSets(all)
      return
    default:
      for (const user of each.user) {
        const resourceSet = each.resource === RESOURCE_SETS ? `__autogen_${TYPE}` : `r-${each.resource}`
        const rule = { userSet: `u-${user}`, type: TYPE, action: ACTIONS[each.action]!, resourceSet }
        if (each.do === 'rules') all.book.putRule(rule)
        else all.book.removeRule(rule)
      }
  }
}

/** Returns the rules by path and value, the rules that each check evaluates, and all rules. */
function read(plan: PlanView) {
  const { view, at } = plan
  const { program } = view
  const nameOf = (side: number): string => (side < 0 ? `__autogen_${TYPE}` : view.set(side).key)
  const pairsIn = (sides: Int32Array) =>
    Array.from(
      { length: sides.length / 2 },
      (_, n) => `${nameOf(sides[2 * n]!)} ${nameOf(sides[2 * n + 1]!)}`,
    )
  const pairs = (from: number, count: number) => pairsIn(program.subarray(from, from + 2 * count))
  const under = new Map<string, Map<number, string[]>>()
  for (let lookup = 0; lookup < program[at + PLAN.lookups]!; lookup++) {
    const [path, table] = program.subarray(program[at + PLAN.lookupsAt]! + lookup * LOOKUP_WORDS)
    const ofPath = new Map<number, string[]>()
    expect(under.has(view.path(path!).text)).toBe(false)
    under.set(view.path(path!).text, ofPath)
    for (const entry of program.subarray(table! + 1, table! + 1 + (1 << program[table!]!))) {
      if (entry === 0) continue
      const count = entry + 1 + wordsBehind(program[entry]!, program, entry + 1)
      ofPath.set(valueIn(program[entry]!, program, entry + 1) as number, pairs(count + 1, program[count]!))
    }
  }
  return {
    under,
    others: pairs(program[at + PLAN.othersAt]!, program[at + PLAN.others]!),
    all: pairsIn(view.rulesOf(plan)),
  }
}

/** Requirements of a rule: those of its two sets and of the ancestors of these sets. */
function demandsOf(
  { userSet, resourceSet }: RuleChange,
  sets: ReadonlyMap<string, ConditionSetPut>,
  says: ReadonlyMap<string, Demanded>,
): [path: string, values: readonly number[]][] {
  const demands: [string, readonly number[]][] = []
  for (const side of [userSet, resourceSet]) {
    for (let set = sets.get(side); set !== undefined; set = sets.get(set.parent ?? '')) {
      demands.push(...Object.entries(says.get(set.set) ?? {}))
    }
  }
  return demands
}

function expectToLead(all: CompiledRules, says: ReadonlyMap<string, Demanded>): void {
  const { view } = all.compile()
  const saved = all.book.save()
  const sets = new Map(saved.sets.map(set => [set.set, set]))
  expect(view?.hasTexts() ?? true).toBe(true)
  for (const action of ACTIONS) {
    const rules = saved.rules.filter(rule => rule.action === action)
    const plan = view?.planOf(TYPE, action) ?? null
    expect(plan === null).toBe(rules.length === 0)
    if (plan === null) continue
    const found = read(plan)
    const names = rules.map(({ userSet: user, resourceSet: resource }) => `${user} ${resource}`)
    expect(found.all.toSorted()).toEqual(names.toSorted())
    let underValues = 0
    for (const [index, rule] of rules.entries()) {
      const name = names[index]!
      const demands = demandsOf(rule, sets, says)
      if (found.others.includes(name)) continue
      const chosen = demands.find(([path, values]) =>
        values.every(value => found.under.get(path)?.get(value)?.includes(name)),
      )
      expect({ name, chosen }).not.toEqual({ name, chosen: undefined })
      underValues += chosen![1].length
    }
    // Each rule with a requirement is found only by that requirement.
    const placed = [...found.under.values()].flatMap(ofPath => [...ofPath.values()].flat())
    expect(placed).toHaveLength(underValues)
    const free = rules.filter(rule => demandsOf(rule, sets, says).length === 0)
    expect(found.others.toSorted()).toEqual(
      free.map(({ userSet: user, resourceSet: resource }) => `${user} ${resource}`).toSorted(),
    )
  }
}

test('compiled rules are found by a value that one of their sets requires, and removed rules are not found', () => {
  holdsFor(fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }), 20, steps => {
    const all = new CompiledRules()
    const says = new Map<string, Demanded>()
    putResourceSets(all)
    for (let n = 1; n < RESOURCE_SETS; n++) says.set(`r-${n}`, { 'resource.d': [n] })
    for (let n = 0; n < USER_SETS; n += 2) {
      all.book.putSet(conditionSet(`u-${n}`, conditionsOf({ 'user.a': [n] })))
      says.set(`u-${n}`, { 'user.a': [n] })
      for (const action of ACTIONS) {
        all.book.putRule({ userSet: `u-${n}`, type: TYPE, action, resourceSet: 'r-0' })
      }
    }
    for (const each of steps) {
      if (each.do === 'compile') expectToLead(all, says)
      else take(all, says, each)
    }
    expectToLead(all, says)
  })
})
