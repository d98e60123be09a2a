/**
 * Compares the shared index with the oracle in a very large number of checks, from a fixed seed. Each history
 * runs in one of several modes that stress the index. Each check is evaluated alone, in a batch and by
 * `explain`, and the results must equal that of the oracle. Counters show that each feature was covered.
 *
 * Nodes with 65,536 edges are too large for the oracle. Therefore only the index receives *padding*
 * (`inert-edges.ts`), which consists of edges between the real ones. According to the specification, they do
 * not change any decision.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import {
  COLLIDING,
  CollectingEngine,
  PrecomputingEngine,
  SharedEngine,
} from '#testing/engines/shared-engine.ts'
import { Coverage } from '#testing/oracle/coverage.ts'
import { MemoizedOracle } from '#testing/oracle/memoized-oracle.ts'
import { Padding, PADDINGS, type PaddingKind } from './inert-edges.ts'
import { histories, type History, type HistorySize } from '#testing/oracle/random-history.ts'
import { MANY_ROLES, SHORT_AND_LONG_KEYS, USUAL } from '#testing/oracle/random-model.ts'
import { TextQuestion } from '#model/question.ts'

/** Number of histories of each kind. */
export interface DifferentialSize {
  readonly seed: number
  readonly usual: number
  readonly manyRoles: number
  readonly keys: number
  readonly padded: number
}

const WAYS: Record<string, () => SharedEngine> = {
  plain: () => new SharedEngine(),
  'colliding keys': () => new SharedEngine({ secrets: COLLIDING }),
  'beyond the cap on states': () => new SharedEngine({ statesMax: 3 }),
  'locking every read': () => new SharedEngine({ lockEveryRead: true }),
  'collecting after every commit': () => new CollectingEngine(),
  'closures built ahead': () => new PrecomputingEngine(1_000_000),
  'closures built ahead bit by bit': () => new PrecomputingEngine(40),
}

const SIZE: HistorySize = { commits: 10, queries: 300 }
const COMMITS_IN_ONE = 5
/** The size is small, because explanations walk all edges. */
const PADDED_SIZE: HistorySize = { commits: 1, queries: 40 }

export class Differential {
  readonly coverage = new Coverage()
  /** Number of checks that covered a feature, by the name of the feature. */
  readonly met = new Map<string, number>()

  get checks(): number {
    return this.coverage.checks
  }

  /**
   * Runs all histories. Throws at the first wrong result. The error contains all data that is needed to
   * reproduce it.
   */
  run({ seed, usual, manyRoles, keys, padded }: DifferentialSize): void {
    const kinds = [
      { name: 'usual', count: usual, of: histories(SIZE, USUAL) },
      { name: 'many roles', count: manyRoles, of: histories(SIZE, MANY_ROLES) },
      { name: 'short and long keys', count: keys, of: histories(SIZE, SHORT_AND_LONG_KEYS) },
    ]
    for (const { name, count, of } of kinds) this.#runAll(name, of, count, seed, null)
    for (const padding of PADDINGS) {
      this.#runAll(padding.name, histories(PADDED_SIZE, USUAL), padded, seed, padding)
    }
  }

  #runAll(
    kind: string,
    arbitrary: Arbitrary<History>,
    count: number,
    seed: number,
    padding: PaddingKind | null,
  ): void {
    // This mode is skipped with padding, because adding tens of thousands of colliding keys would take a day.
    const ways = Object.keys(WAYS).filter(way => padding === null || way !== 'colliding keys')
    for (let number = 0; number < count; number++) {
      const way = ways[number % ways.length]!
      const [history] = fc.sample(arbitrary, { seed: seed + number, numRuns: 1 })
      try {
        this.#follow(number % 2 === 0 ? history! : withLargeCommits(history!), way, padding)
      } catch (error) {
        throw new Error(`seed ${seed}, history ${number} of "${kind}", ${way}`, { cause: error })
      }
    }
  }

  #follow({ load, commits, queries }: History, way: string, padding: PaddingKind | null): void {
    const engine = WAYS[way]!()
    const moment = new MemoizedOracle()
    const pads = padding && new Padding(engine, padding)
    const counting = this.coverage.follow()
    const before = queries.map(() => new Set<boolean>())
    const last: boolean[] = []
    for (const changes of [load, ...commits]) {
      for (const follower of [engine, moment, counting]) follower.apply(changes)
      const standing = moment.oracle.currentFacts()
      const edges = pads?.pad(standing) ?? 0
      if (edges > 0) this.#count(`${padding!.name}: ${edges}`, queries.length)
      const features = new Features(standing)
      if (putsAgain(changes)) this.#count('something removed and put again in one commit', queries.length)
      const batch = engine.evaluateAll(new TextQuestion(queries))
      for (const [index, query] of queries.entries()) {
        const right = moment.evaluate(query)
        expectSame(query, right, {
          batch: batch[index] === 1,
          single: engine.evaluate(query),
          explained: runAtOnce(engine.explain(query, EXPLAIN_STEPS_MAX)).allow,
        })
        counting.count(query, right)
        for (const feature of features.of(query)) this.#count(feature, 1)
        this.#count(way, 1)
        if (last[index] === true && !right) this.#count('allowed a commit ago, denied now', 1)
        if (last[index] === false && right && before[index]!.has(true)) {
          this.#count('allowed, denied, and allowed again', 1)
        }
        last[index] = right
        before[index]!.add(right)
      }
    }
  }

  #count(what: string, times: number): void {
    this.met.set(what, (this.met.get(what) ?? 0) + times)
  }
}

/**
 * Merges commits into fewer and larger ones. Entities are then often removed and put again within the same
 * commit.
 */
function withLargeCommits({ load, commits, queries }: History): History {
  const merged = Array.from({ length: Math.ceil(commits.length / COMMITS_IN_ONE) }, (_, n) =>
    commits.slice(n * COMMITS_IN_ONE, (n + 1) * COMMITS_IN_ONE).flat(),
  )
  return { load, commits: merged, queries }
}

function putsAgain(changes: readonly Change[]): boolean {
  const removed = new Set<string>()
  return changes.some(change => {
    if (change.kind === 'instance-removed') removed.add(JSON.stringify(change.instance))
    return change.kind === 'instance-put' && removed.has(JSON.stringify(change.instance))
  })
}

/** Detects which features of the current facts are covered by a check. */
class Features {
  readonly #onCycle: ReadonlySet<string>
  readonly #manyRoles: ReadonlySet<string>
  readonly #guarded: ReadonlySet<string>

  constructor(standing: readonly Change[]) {
    this.#onCycle = cyclesIn(standing)
    const roles = new Map<string, Set<string>>()
    const guarded = new Set<string>()
    for (const put of standing) {
      if (put.kind !== 'role-put' || put.type === null) continue
      roles.set(put.type, (roles.get(put.type) ?? new Set()).add(put.role))
      if (put.derivations.some(derivation => derivation.guarded)) guarded.add(put.type)
    }
    this.#manyRoles = new Set([...roles].filter(([, names]) => names.size > 32).map(([type]) => type))
    this.#guarded = guarded
  }

  *of({ user, type, key }: Query): Iterable<string> {
    if (this.#onCycle.has(JSON.stringify([type, key]))) yield 'instance on a cycle of tuples'
    if (this.#manyRoles.has(type)) yield 'type with more than 32 roles'
    if (this.#guarded.has(type)) yield 'type with guarded derivations'
    const lengths = [user, key ?? ''].map(text => Buffer.byteLength(text))
    if (lengths.includes(1)) yield 'key of 1 byte'
    if (lengths.includes(512)) yield 'key of 512 bytes'
    if (/[^ -~]/.test(user + (key ?? ''))) yield 'key that is not ASCII'
  }
}

/** Instances that are on a cycle of tuples. */
function cyclesIn(standing: readonly Change[]): Set<string> {
  const next = new Map<string, string[]>()
  for (const put of standing) {
    if (put.kind !== 'tuple-put') continue
    const [from, to] = [put.subject, put.object].map(({ type, key }) => JSON.stringify([type, key]))
    next.set(from!, [...(next.get(from!) ?? []), to!])
  }
  const leadsBack = (start: string): boolean => {
    const reached = new Set(next.get(start))
    // The set is also the work queue: the iteration over a `Set` includes elements that are added during the
    // iteration.
    for (const each of reached) for (const further of next.get(each) ?? []) reached.add(further)
    return reached.has(start)
  }
  return new Set([...next.keys()].filter(leadsBack))
}

function expectSame(query: Query, right: boolean, answers: Record<string, boolean | undefined>): void {
  for (const [how, answer] of Object.entries(answers)) {
    if (answer !== right) throw new Error(`${how} said ${answer}, not ${right}: ${JSON.stringify(query)}`)
  }
}
