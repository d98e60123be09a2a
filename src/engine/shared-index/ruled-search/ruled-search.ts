/**
 * A page of a search in which rules count: candidates in the order of their keys, each decided like a question of its own, until the page
 * is full or enough of them were tried. So what a page names is what checks allow, and nothing is left out without a word.
 *
 * Candidates are those of rules (`candidates.ts`) and what roles allow, or all there are. They are read and decided some at a time, those at
 * one state; the next ones may be of a later one.
 */
import type { KeyPage, PageRequest } from '#engine/engine.ts'
import { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { isDead, keyText } from '#engine/shared-index/memory/records.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { changesTooFast, type ConsistentReads } from '#engine/shared-index/consistent-reads.ts'
import { ALL, BY_TENANT, HASH_OF_ALL, readyList, SLOT } from '#engine/shared-index/owners/list-directory.ts'
import { take } from '#engine/shared-index/owners/ordered-list.ts'
import type { Query } from '#model/decision.ts'
import type { Resumable } from '#model/resumable.ts'
import { compareUtf8 } from '#model/utf8-order.ts'
import type { Found, Range } from './candidates.ts'
import { type KeySource, mergedKeys, PASSED_A_KEY, type Stretch } from './merged-keys.ts'

/** What the search asks of the thread that runs it. */
export interface SearchHost {
  /** Whom rules may allow. In a read. */
  candidates(): Found
  /** Pages of all there are, and of those whom roles allow. */
  all(page: Pick<PageRequest, 'after' | 'limit'>): KeyPage
  byRoles(page: Pick<PageRequest, 'after' | 'limit'>): KeyPage
  /** The question with this key filled in. */
  queryOf(key: string): Query
  /** Decides the first of up to `DECIDED_AT_ONCE` questions at one state, at least one of them, until rules have cost so much. */
  decide(queries: readonly Query[], stepsMax: number): readonly boolean[]
  /** What rules have cost so far (`RuleEvaluation.steps`). */
  steps(): number
  /** The line of what has this key; 0: nothing is stored under it. In a read. */
  lineOf(key: string): number
  /** The line of the only tenant in which instances are searched for; 0: of any. In a read. */
  tenant(): number
}

/** Candidates decided at one state. */
const DECIDED_AT_ONCE = 128
/** At first, since nobody knows yet what one of them costs; where rules are many, one at a time. */
const DECIDED_AT_FIRST = 8
/** Steps of rules that a page may cost, some ten milliseconds, and that one turn may. */
const STEPS_A_PAGE = 2_000_000
const STEPS_A_TURN = 50_000
/** Attempts to find candidates and decide them at one state, each of half as many as the one before. */
const ATTEMPTS = 8
/** The same where it changes each time whence candidates come. */
const MODE_ATTEMPTS = 100
const READ_ATTEMPTS = 50

interface Decided {
  /** Candidates in order, at one state. */
  readonly batch: Stretch
  readonly allowed: readonly boolean[]
}

const NO_KEYS: KeyPage = { keys: [], hasMore: false, last: null, total: null }

export class RuledSearch {
  readonly #reads: ConsistentReads
  readonly #host: SearchHost
  /** Of the lists: that of users, or of the type. */
  readonly #type: number
  readonly #after: Key
  readonly #lines = new NumberList()
  /** All there are, or the first of them, as long as no list has them. */
  #unlisted: KeyPage | null = null
  #found: Found | null = null
  #foundAt = -1

  constructor(reads: ConsistentReads, host: SearchHost, type: number) {
    const { header } = reads.regions
    this.#reads = reads
    this.#host = host
    this.#type = type
    this.#after = new Key(header[L.H_HASH_START]!, header[L.H_HASH_MULTIPLIER]!)
  }

  /** O(candidates tried × their rules). */
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
      // Those who wait for this thread do not wait longer because rules are many.
      const cost = this.#host.steps() - steps
      if (cost > STEPS_A_TURN) size = Math.max(1, size >>> 2)
      else if (cost < STEPS_A_TURN / 4) size = Math.min(DECIDED_AT_ONCE, 2 * size)
      yield
    }
    return page(last, true)
  }

  /** Candidates after a key, and which of them are allowed: of one state, if any lasts long enough. */
  #next(after: string | null, wanted: number, triedMax: number): Decided {
    for (let attempt = 0, size = wanted; ; attempt++, size = Math.max(1, size >>> 1)) {
      const isLast = attempt >= ATTEMPTS
      const mode = this.#read(() => this.#modeNow())
      const beside = this.#beside(mode, after, { size, triedMax })
      const sequence = this.#reads.sequence
      // Something allowed throughout may be allowed by a role first and by a rule later: both are looked at as they are at one state.
      const batch = this.#read(() => (this.#modeNow() === mode ? this.#batch(after, size, beside) : null))
      // Candidates come from elsewhere now, since the rules or their lists have changed.
      if (batch === null) {
        if (attempt < MODE_ATTEMPTS) continue
        throw changesTooFast()
      }
      if (this.#reads.sequence !== sequence && !isLast && beside !== NO_KEYS) continue
      if (batch.keys.length === 0) return { batch, allowed: [] }
      const state = this.#reads.sequence
      const queries = batch.keys.map(key => this.#host.queryOf(key))
      const allowed = this.#host.decide(queries, STEPS_A_TURN)
      const decided = firstOf(batch, allowed.length)
      if (this.#reads.sequence === state) return { batch: decided, allowed }
      if (!isLast) continue
      // What has gone since is not named.
      const isThere = this.#read(() => decided.keys.map(key => this.#host.lineOf(key) !== 0))
      return { batch: decided, allowed: allowed.map((isAllowed, index) => isAllowed && isThere[index]!) }
    }
  }

  #read<T>(work: () => T): T {
    return this.#reads.read(READ_ATTEMPTS, work)
  }

  /** Whom rules may allow at the state that is read: found once a state, since many rules take long. */
  #candidatesNow(): Found {
    const { sequence } = this.#reads
    if (this.#found === null || this.#foundAt !== sequence) {
      this.#found = this.#host.candidates()
      this.#foundAt = sequence
    }
    return this.#found
  }

  /** Where candidates come from just now. */
  #modeNow(): 'rules' | 'list' | 'unlisted' {
    if (this.#candidatesNow() !== 'all') return 'rules'
    return this.#listOfAll() === null ? 'unlisted' : 'list'
  }

  /** Candidates beside those of lists: whom roles allow, or all, where no list has them. */
  #beside(
    mode: 'rules' | 'list' | 'unlisted',
    after: string | null,
    { size, triedMax }: { readonly size: number; readonly triedMax: number },
  ): KeyPage {
    if (mode === 'rules') return this.#host.byRoles({ after, limit: size })
    if (mode === 'list') return NO_KEYS
    // They are sorted once for the page: those that are there throughout are among them.
    const known = this.#unlisted
    const isBehind = known !== null && known.hasMore && after !== null && compareUtf8(after, known.last!) >= 0
    if (known === null || isBehind) this.#unlisted = this.#host.all({ after, limit: triedMax })
    return this.#unlisted!
  }

  /** Reads without the lock. */
  #batch(after: string | null, wanted: number, beside: KeyPage): Stretch {
    const found = this.#candidatesNow()
    this.#reads.regions.lists.refresh()
    const sources = this.#listsOf(this.#rangesOf(found))
    sources.push(this.#sorted(beside.keys, beside.hasMore ? beside.last : null))
    if (typeof found !== 'string') sources.push(this.#sorted(found.keys.toSorted(compareUtf8), null))
    return mergedKeys(sources, after, wanted)
  }

  /** Those of ascending keys under which something is stored. `upTo`: there are more behind that key; `null`: there are none. */
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

  #rangesOf(found: Found): readonly Range[] {
    if (found === 'nobody') return []
    if (found !== 'all') return found.ranges
    const all = this.#listOfAll()
    return all === null ? [] : [all]
  }

  /** The list that has all that is searched for, if it can be read. In a read. */
  #listOfAll(): Range | null {
    const tenant = this.#type === L.USER_TYPE ? 0 : this.#host.tenant()
    const name = tenant === 0 ? ALL : BY_TENANT
    const { lists } = this.#reads.regions
    lists.refresh()
    if (readyList(lists, this.#type, name) === 0) return null
    return { type: this.#type, name, hash: tenant === 0 ? HASH_OF_ALL : tenant }
  }

  /** In a read. */
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
    // A cursor that is no key was never handed out.
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

/** What was looked at of the first candidates. */
function firstOf(batch: Stretch, count: number): Stretch {
  if (count === batch.keys.length) return batch
  const keys = batch.keys.slice(0, count)
  return { ...batch, keys, last: keys.at(-1)! }
}

/** Of ascending keys the first one behind. */
function firstAfter(keys: readonly string[], after: string | null): number {
  let low = 0
  for (let high = after === null ? 0 : keys.length; low < high;) {
    const middle = (low + high) >>> 1
    if (compareUtf8(keys[middle]!, after!) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
