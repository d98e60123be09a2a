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

/** What the search asks of the thread that runs it. */
export interface SearchHost {
  /** Whom rules may allow. In a read. */
  candidates(): Found
  /** Pages of all there are, and of those whom roles allow. */
  all(page: Pick<PageRequest, 'after' | 'limit'>): KeyPage
  byRoles(page: Pick<PageRequest, 'after' | 'limit'>): KeyPage
  /** The question with this key filled in. */
  queryOf(key: string): Query
  /** Decides up to `DECIDED_AT_ONCE` questions at one state. */
  decide(queries: readonly Query[]): readonly boolean[]
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
/** Entries of a list that are passed over because they are of another tenant, for one that is tried. */
const PASSED_A_CANDIDATE = 16
/** Attempts to find candidates and decide them at one state, each of half as many as the one before. */
const ATTEMPTS = 8
/** The same where it changes each time whence candidates come. */
const MODE_ATTEMPTS = 100
const READ_ATTEMPTS = 50

/** Candidates in order, at one state. */
interface Batch {
  readonly keys: readonly string[]
  /** The key up to which there are no others; `null`: to the end. */
  readonly last: string | null
  /** Entries that were looked at in vain. */
  readonly passed: number
}

interface Decided {
  readonly batch: Batch
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
      tried += batch.keys.length + Math.ceil(batch.passed / PASSED_A_CANDIDATE)
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
      const allowed = this.#host.decide(batch.keys.map(key => this.#host.queryOf(key)))
      if (this.#reads.sequence === state) return { batch, allowed }
      if (!isLast) continue
      // What has gone since is not named.
      const isThere = this.#read(() => batch.keys.map(key => this.#host.lineOf(key) !== 0))
      return { batch, allowed: allowed.map((isAllowed, index) => isAllowed && isThere[index]!) }
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
  #batch(after: string | null, wanted: number, beside: KeyPage): Batch {
    const found = this.#candidatesNow()
    const all: string[] = []
    let end: string | null = null
    let passed = 0
    const endAt = (key: string | null): void => {
      if (key !== null && (end === null || compareUtf8(key, end) < 0)) end = key
    }
    const noteSorted = (keys: readonly string[], upTo: string | null): void => {
      const from = firstAfter(keys, after)
      for (let at = from; at < Math.min(keys.length, from + wanted); at++) {
        if (this.#host.lineOf(keys[at]!) !== 0) all.push(keys[at]!)
      }
      endAt(from + wanted < keys.length ? keys[from + wanted - 1]! : upTo)
    }
    for (const range of this.#rangesOf(found)) {
      const taken = this.#take(range, after, wanted)
      passed += taken.passed
      for (const key of taken.keys) all.push(key)
      endAt(taken.last)
    }
    noteSorted(beside.keys, beside.hasMore ? beside.last : null)
    if (typeof found !== 'string') noteSorted(found.keys.toSorted(compareUtf8), null)
    return cut(all, { end, wanted, passed })
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

  #take({ type, name, hash }: Range, after: string | null, wanted: number): Batch {
    const { lists, graph } = this.#reads.regions
    lists.refresh()
    const lines = this.#lines
    lines.length = 0
    const list = { memory: lists, at: readyList(lists, type, name) + SLOT.chunks, graph }
    // A cursor that is no key was never handed out.
    const from = after !== null && this.#after.read(after, 0) ? this.#after : null
    const isOfUsers = type === L.USER_TYPE
    const tenant = isOfUsers || name === BY_TENANT ? 0 : this.#host.tenant()
    const limit = tenant === 0 ? wanted : wanted * PASSED_A_CANDIDATE
    const isEnd = take(list, { hash, after: from, limit }, lines)
    const keys: string[] = []
    for (let at = 0; at < lines.length; at++) {
      const line = lines.items[at]!
      const home = isOfUsers ? 0 : graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT]!
      const counts = isOfUsers || (tenant === 0 ? !isDead(graph, home) : home === tenant)
      if (counts) keys.push(keyText(graph, line))
      if (keys.length < wanted) continue
      const isWhole = isEnd && at === lines.length - 1
      return { keys, last: isWhole ? null : keys.at(-1)!, passed: at + 1 - keys.length }
    }
    const last = isEnd || lines.length === 0 ? null : keyText(graph, lines.items[lines.length - 1]!)
    return { keys, last, passed: lines.length - keys.length }
  }
}

function cut(
  keys: readonly string[],
  { end, wanted, passed }: { readonly end: string | null; readonly wanted: number; readonly passed: number },
): Batch {
  const sorted = [...new Set(keys)].toSorted(compareUtf8)
  const known = end === null ? sorted : sorted.filter(key => compareUtf8(key, end) <= 0)
  if (known.length <= wanted) return { keys: known, last: end, passed }
  return { keys: known.slice(0, wanted), last: known[wanted - 1]!, passed }
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
