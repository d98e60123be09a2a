/** Expiring facts in random histories: the index ignores expired facts, and reports each once. */
import { describe, expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import { Random } from '#testing/data/random.ts'
import { CollectingEngine, SavingEngine, SharedEngine } from '#testing/engines/shared-engine.ts'
import { answersOf } from '#testing/engines/packed.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { type History, histories } from '#testing/oracle/random-history.ts'
import { fixedValues, holdsFor, onceFor } from './seeded.ts'

const RUNS = 100
/** Time between two moments. */
const MOMENT_MS = 1_000
/** Maximum number of expired facts that one call removes from the index. */
const AT_ONCE = 3
const usual = histories({ commits: 10, queries: 40 })

type FactPut = Extract<Change, { readonly kind: 'assignment-put' | 'tuple-put' }>
type FactRemoved = Extract<Change, { readonly kind: 'assignment-removed' | 'tuple-removed' }>

interface Moment {
  readonly now: number
  readonly changes: readonly Change[]
  /** Facts that have expired by this moment, before and after the changes are applied. */
  readonly endedBefore: readonly FactRemoved[]
  readonly endedAfter: readonly FactRemoved[]
  readonly answers: readonly boolean[]
  /** Number of current facts with an expiration time. */
  readonly ending: number
}

function isFactPut(change: Change): change is FactPut {
  return change.kind === 'assignment-put' || change.kind === 'tuple-put'
}

function isFactRemoved(change: Change): change is FactRemoved {
  return change.kind === 'assignment-removed' || change.kind === 'tuple-removed'
}

function removalOf(put: FactPut): FactRemoved {
  if (put.kind === 'tuple-put') {
    const { subject, relation, object } = put
    return { kind: 'tuple-removed', subject, relation, object }
  }
  const { user, role, scope } = put
  return { kind: 'assignment-removed', user, role, scope }
}

const nameOf = (fact: FactPut | FactRemoved): string =>
  JSON.stringify(
    'scope' in fact ? [fact.user, fact.role, fact.scope] : [fact.subject, fact.relation, fact.object],
  )

/** Adds expiration times to two thirds of the facts: in the past, in the near or in the far future. */
function withEnds(changes: readonly Change[], now: number, random: Random): Change[] {
  return changes.map(change => {
    if (!isFactPut(change) || random.below(3) === 0) return change
    const far = random.below(8) === 0 ? 2 ** 40 : 0
    return { ...change, expiresAt: Math.max(0, now + far + random.below(5 * MOMENT_MS) - 500) }
  })
}

const rightMoments = onceFor(({ load, commits, queries }: History): Moment[] => {
  const random = new Random(load.length * 31 + commits.length)
  const oracle = new Oracle()
  const ends = new Map<string, { readonly removal: FactRemoved; readonly expiresAt: number }>()
  const expireDue = (now: number): FactRemoved[] => {
    const standing = new Set(oracle.currentFacts().filter(isFactPut).map(nameOf))
    const due = [...ends].filter(([, { expiresAt }]) => expiresAt <= now)
    for (const [name] of due) ends.delete(name)
    const removals = due.map(([, { removal }]) => removal)
    oracle.apply(removals)
    return removals.filter(removal => standing.has(nameOf(removal)))
  }
  return [load, ...commits].map((commit, moment) => {
    const now = moment * MOMENT_MS
    const changes = withEnds(commit, now, random)
    const endedBefore = expireDue(now)
    oracle.apply(commit)
    for (const change of changes) {
      if (isFactRemoved(change)) ends.delete(nameOf(change))
      if (!isFactPut(change)) continue
      if (change.expiresAt === undefined) ends.delete(nameOf(change))
      else ends.set(nameOf(change), { removal: removalOf(change), expiresAt: change.expiresAt })
    }
    const endedAfter = expireDue(now)
    const standing = new Set(oracle.currentFacts().filter(isFactPut).map(nameOf))
    const ending = [...ends.keys()].filter(name => standing.has(name)).length
    const answers = queries.map(query => oracle.evaluate(query))
    return { now, changes, endedBefore, endedAfter, answers, ending }
  })
})

function endedAt({ writer }: SharedEngine, now: number): Change[] {
  const ended: Change[] = []
  while (writer.wakeAt <= now) ended.push(...writer.expireDue(now, AT_ONCE))
  return ended
}

const sorted = (changes: readonly Change[]): string[] =>
  changes.map(change => JSON.stringify(change)).toSorted()

const ENGINES = {
  'the shared index': () => new SharedEngine(),
  'with overflow lines': () => new SharedEngine({ firstTenantRoleIndex: 2_047 }),
  'moved to a buffer with its full address space': () =>
    new SharedEngine({ largeGraphBytes: 0, graphBytesMax: 1 << 24, closureBytesMax: 1 << 23 }),
  'saved and restored after every commit': () => new SavingEngine(),
  'collecting after every commit': () => new CollectingEngine(),
}

test('random histories contain many expiring facts', () => {
  let ended = 0
  let ending = 0
  for (const history of fixedValues(usual, 10)) {
    for (const moment of rightMoments(history)) {
      ended += moment.endedBefore.length + moment.endedAfter.length
      ending += moment.ending
    }
  }
  expect(ended).toBeGreaterThan(50)
  expect(ending).toBeGreaterThan(50)
})

describe.each(Object.entries(ENGINES))('%s', (_, newEngine) => {
  test('expired facts are denied and reported once, and expiration times of deleted facts are removed', () => {
    holdsFor(usual, RUNS, history => {
      const engine = newEngine()
      for (const moment of rightMoments(history)) {
        const before = endedAt(engine, moment.now)
        engine.apply(moment.changes)
        const after = endedAt(engine, moment.now)
        expect(answersOf(engine, history.queries)).toEqual(moment.answers)
        expect(sorted(before)).toEqual(sorted(moment.endedBefore))
        expect(sorted(after)).toEqual(sorted(moment.endedAfter))
        expect(engine.writer.expiresFrom).toBeGreaterThan(moment.now)
        while (engine.writer.collect(1_000));
        expect(engine.writer.figures().expiring).toBe(moment.ending)
      }
    })
  })
})
