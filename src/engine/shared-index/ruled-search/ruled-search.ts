/**
 * Computes a page of a search in which rules apply. Decides candidates in the order of their keys, each like
 * a separate check, until the page is full or the limit on candidates is reached. A page thus contains
 * exactly the keys that checks allow. If a page is incomplete, it is marked as such.
 *
 * The candidates are those of the rules (`candidates.ts`) and those that roles allow, or all entities. They
 * are read and decided in batches. All checks of a batch use one state; the next batch may use a later state.
 */
import type { KeyPage, PageRequest } from '#engine/engine.ts'
import { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { isDead, keyText } from '#engine/shared-index/memory/records.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { changesTooFast, type ConsistentReads } from '#engine/shared-index/schema/consistent-reads.ts'
import {
  ALL,
  BY_TENANT,
  HASH_OF_ALL,
  readyList,
  SLOT,
} from '#engine/shared-index/attribute-index/list-directory.ts'
import { take } from '#engine/shared-index/attribute-index/ordered-list.ts'
import type { Query } from '#model/decision.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import type { CandidateSet, Range } from './candidates.ts'
import { type KeySource, mergedKeys, PASSED_A_KEY, type Stretch } from './merged-keys.ts'

/** Functions of the thread that runs the search. */
export interface SearchHost {
  /** Returns the candidates of the rules. Call it within a consistent read. */
  candidates(): CandidateSet
  /** `all` returns a page of all entities; `byRoles` returns a page of those that roles allow. */
  all(page: Pick<PageRequest, 'after' | 'limit'>): KeyPage
  byRoles(page: Pick<PageRequest, 'after' | 'limit'>): KeyPage
  /** Returns the query with this key. */
  queryOf(key: string): Query
  /**
   * Decides queries from the first on, all on one state. There can be up to `DECIDED_AT_ONCE` queries.
   * Decides at least one of them, and stops when rules have used `stepsMax` steps.
   */
  decide(queries: readonly Query[], stepsMax: number): readonly boolean[]
  /** Total cost of rules so far (`RuleEvaluation.steps`). */
  steps(): number
  /**
   * Returns the line of the entity with this key, or 0 if the entity is not stored. Call it within a
   * consistent read.
   */
  lineOf(key: string): number
  /**
   * If instances of only one tenant are searched for, returns the line of that tenant; otherwise 0. Call it
   * within a consistent read.
   */
  tenant(): number
}

/** Maximum number of candidates that are decided on one state. */
const DECIDED_AT_ONCE = 128
/**
 * Number of candidates in the first batch. It is small, because the cost of a candidate is not known yet. If
 * a candidate has many rules, candidates are decided individually.
 */
const DECIDED_AT_FIRST = 8
/** Maximum number of rule steps per page, and per slice. The steps of a page take some ten milliseconds. */
const STEPS_A_PAGE = 2_000_000
const STEPS_PER_SLICE = 50_000
/**
 * Number of attempts to read and decide a batch of candidates on one state. Each attempt has half as many
 * candidates as the previous one.
 */
const ATTEMPTS = 8
/** Number of attempts if, in each attempt, the source of candidates has changed. */
const MODE_ATTEMPTS = 100
const READ_ATTEMPTS = 50

interface DecidedStretch {
  /** Candidates in the order of their keys, read on one state. */
  readonly batch: Stretch
  readonly allowed: readonly boolean[]
}

const NO_KEYS: KeyPage = { keys: [], hasMore: false, last: null, total: null }

export class RuledSearch {
  readonly #reads: ConsistentReads
  readonly #host: SearchHost
  /** Type of the searched entities: users, or the resource type. */
  readonly #type: number
  readonly #after: Key
  readonly #lines = new NumberList()
  /** All entities, or the first of them. Used while no list contains them. */
  #unlisted: KeyPage | null = null
  #found: CandidateSet | null = null
  #foundAt = -1

  constructor(reads: ConsistentReads, host: SearchHost, type: number) {
    const { header } = reads.regions
    this.#reads = reads
    this.#host = host
    this.#type = type
    this.#after = new Key(header[L.H_HASH_START]!, header[L.H_HASH_MULTIPLIER]!)
  }

  /** Computes a page. O(candidates tried × their rules). */
  *page({ after, limit, triedMax }: PageRequest): Resumable<KeyPage> {
    const keys: string[] = []
    const page = (last: string | null, hasMore: boolean): KeyPage => ({ keys, hasMore, last, total: null })
    if (limit === 0) return page(after, true)
    yield
    const stepsMax = this.#host.steps() + STEPS_A_PAGE
    let last = after
    let size = DECIDED_AT_FIRST
    for (let tried = 0; tried < triedMax && this.#host.steps() < stepsMax;) {
      const steps = this.#host.steps()
      const wanted = Math.min(size, triedMax - tried, 2 * (limit - keys.length) + DECIDED_AT_FIRST)
      const { batch, allowed } = this.#next(last, wanted, triedMax)
      for (const [index, key] of batch.keys.entries()) {
        if (!allowed[index]) continue
        keys.push(key)
        if (keys.length === limit) return page(key, batch.last !== null || index < batch.keys.length - 1)
      }
      if (batch.last === null) return page(batch.keys.at(-1) ?? last, false)
      tried += batch.keys.length + Math.ceil(batch.passed / PASSED_A_KEY)
      last = batch.last
      // The number of candidates per slice depends on the cost of the last slice, so that many rules do not
      // delay other work of this thread.
      const cost = this.#host.steps() - steps
      if (cost > STEPS_PER_SLICE) size = Math.max(1, size >>> 2)
      else if (cost < STEPS_PER_SLICE / 4) size = Math.min(DECIDED_AT_ONCE, 2 * size)
      yield
    }
    return page(last, true)
  }

  /**
   * Returns the next candidates after a key, with their decisions. The candidates and the decisions belong to
   * one state, unless writes interrupt every attempt.
   */
  #next(after: string | null, wanted: number, triedMax: number): DecidedStretch {
    for (let attempt = 0, size = wanted; ; attempt++, size = Math.max(1, size >>> 1)) {
      const isLast = attempt >= ATTEMPTS
      const mode = this.#read(() => this.#modeNow())
      const beside = this.#beside(mode, after, { size, triedMax })
      const sequence = this.#reads.sequence
      // A write can have the effect that a rule instead of a role allows an entity. Candidates of both kinds
      // are read on one state, so that such an entity is not missed.
      const batch = this.#read(() => (this.#modeNow() === mode ? this.#batch(after, size, beside) : null))
      // The source of candidates has changed, because the rules or their lists have changed.
      if (batch === null) {
        if (attempt < MODE_ATTEMPTS) continue
        throw changesTooFast()
      }
      if (this.#reads.sequence !== sequence && !isLast && beside !== NO_KEYS) continue
      if (batch.keys.length === 0) return { batch, allowed: [] }
      const state = this.#reads.sequence
      const queries = batch.keys.map(key => this.#host.queryOf(key))
      const allowed = this.#host.decide(queries, STEPS_PER_SLICE)
      const decided = firstOf(batch, allowed.length)
      if (this.#reads.sequence === state) return { batch: decided, allowed }
      if (!isLast) continue
      // Omits entities that were deleted after the candidates were read.
      const isThere = this.#read(() => decided.keys.map(key => this.#host.lineOf(key) !== 0))
      return { batch: decided, allowed: allowed.map((isAllowed, index) => isAllowed && isThere[index]!) }
    }
  }

  #read<T>(work: () => T): T {
    return this.#reads.read(READ_ATTEMPTS, work)
  }

  /**
   * Returns the candidates of the rules on the current state. They are computed once per state, because
   * examining many rules takes long.
   */
  #candidatesNow(): CandidateSet {
    const { sequence } = this.#reads
    if (this.#found === null || this.#foundAt !== sequence) {
      this.#found = this.#host.candidates()
      this.#foundAt = sequence
    }
    return this.#found
  }

  /**
   * Returns where the candidates come from: the rules, the list of all entities, or all entities without a
   * list.
   */
  #modeNow(): 'rules' | 'list' | 'unlisted' {
    if (this.#candidatesNow() !== 'all') return 'rules'
    return this.#listOfAll() === null ? 'unlisted' : 'list'
  }

  /**
   * Returns candidates that do not come from lists: those that roles allow, or all entities if no list
   * contains them.
   */
  #beside(
    mode: 'rules' | 'list' | 'unlisted',
    after: string | null,
    { size, triedMax }: { readonly size: number; readonly triedMax: number },
  ): KeyPage {
    if (mode === 'rules') return this.#host.byRoles({ after, limit: size })
    if (mode === 'list') return NO_KEYS
    // All entities are sorted once per page. The result includes every entity that exists during the whole
    // computation of the page.
    const known = this.#unlisted
    const isBehind = known !== null && known.hasMore && after !== null && compareUtf8(after, known.last!) >= 0
    if (known === null || isBehind) this.#unlisted = this.#host.all({ after, limit: triedMax })
    return this.#unlisted!
  }

  /** Returns the next candidates. Reads without the lock, so the result is valid only after validation. */
  #batch(after: string | null, wanted: number, beside: KeyPage): Stretch {
    const found = this.#candidatesNow()
    this.#reads.regions.lists.refresh()
    const sources = this.#listsOf(this.#rangesOf(found))
    sources.push(this.#sorted(beside.keys, beside.hasMore ? beside.last : null))
    if (typeof found !== 'string') sources.push(this.#sorted(found.keys.toSorted(compareUtf8), null))
    return mergedKeys(sources, after, wanted)
  }

  /**
   * Returns a source of those entities with these sorted keys that are stored. `upTo` is the key after which
   * there might be further keys. It is `null` if there are no further keys.
   */
  #sorted(keys: readonly string[], upTo: string | null): KeySource {
    return {
      behind: (after, wanted) => {
        if (upTo !== null && after !== null && compareUtf8(after, upTo) >= 0) return null
        const from = firstAfter(keys, after)
        const looked = keys.slice(from, from + wanted)
        const stored = looked.filter(key => this.#host.lineOf(key) !== 0)
        const last = from + wanted < keys.length ? looked.at(-1)! : upTo
        return { keys: stored, last, passed: looked.length - stored.length }
      },
    }
  }

  #rangesOf(found: CandidateSet): readonly Range[] {
    if (found === 'nobody') return []
    if (found !== 'all') return found.ranges
    const all = this.#listOfAll()
    return all === null ? [] : [all]
  }

  /** Returns the list of all searched entities if it can be read. Call it within a consistent read. */
  #listOfAll(): Range | null {
    const tenant = this.#type === L.USER_TYPE ? 0 : this.#host.tenant()
    const name = tenant === 0 ? ALL : BY_TENANT
    const { lists } = this.#reads.regions
    lists.refresh()
    if (readyList(lists, this.#type, name) === 0) return null
    return { type: this.#type, name, hash: tenant === 0 ? HASH_OF_ALL : tenant }
  }

  /** Returns a source of keys for each of these ranges. Call it within a consistent read. */
  #listsOf(ranges: readonly Range[]): KeySource[] {
    const { lists } = this.#reads.regions
    const slots = new Map<string, number>()
    return ranges.map(range => {
      let slot = slots.get(range.name)
      if (slot === undefined) slots.set(range.name, (slot = readyList(lists, range.type, range.name)))
      return { behind: (after, wanted) => this.#take(range, slot, { after, wanted }) }
    })
  }

  #take(
    { type, name, hash }: Range,
    slot: number,
    { after, wanted }: { readonly after: string | null; readonly wanted: number },
  ): Stretch {
    const { lists, graph } = this.#reads.regions
    const lines = this.#lines
    lines.length = 0
    // If `after` is not a valid key, it is ignored: the service never returned such a cursor.
    const from = after !== null && this.#after.read(after, 0) ? this.#after : null
    const isOfUsers = type === L.USER_TYPE
    const tenant = isOfUsers || name === BY_TENANT ? 0 : this.#host.tenant()
    const list = { memory: lists, at: slot + SLOT.chunks, graph }
    const isEnd = take(list, { hash, after: from, limit: wanted }, lines)
    const keys: string[] = []
    for (let at = 0; at < lines.length; at++) {
      const line = lines.items[at]!
      const home = isOfUsers ? 0 : graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT]!
      const counts = isOfUsers || (tenant === 0 ? !isDead(graph, home) : home === tenant)
      if (counts) keys.push(keyText(graph, line))
    }
    const last = isEnd || lines.length === 0 ? null : keyText(graph, lines.items[lines.length - 1]!)
    return { keys, last, passed: lines.length - keys.length }
  }
}

/** Returns the first `count` candidates of the batch. */
function firstOf(batch: Stretch, count: number): Stretch {
  if (count === batch.keys.length) return batch
  const keys = batch.keys.slice(0, count)
  return { ...batch, keys, last: keys.at(-1)! }
}

/** Returns the index of the first key that comes after `after`. The keys must be sorted. */
function firstAfter(keys: readonly string[], after: string | null): number {
  let low = 0
  for (let high = after === null ? 0 : keys.length; low < high;) {
    const middle = (low + high) >>> 1
    if (compareUtf8(keys[middle]!, after!) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
