/** Records decisions, and optionally their requests, for the observer in another thread. */
import type { DecisionObserver } from '#decisions/decision-service.ts'
import type { Query } from '#model/decision.ts'
import { packQueries, PackedQueries, type QueryTerms, RANGE_WORDS } from '#model/packed-queries.ts'
import type { Decided, PackedData } from '#threads/pool/body-jobs.ts'

/** The observer logs names of up to 512 characters. One more character shows it that a name was truncated. */
const NAME_LENGTH_MAX = 513
const NO_RANGES = new Int32Array(0)

type Verdicts = ArrayLike<boolean | number>

export class RecordedDecisions implements DecisionObserver {
  /** Whether requests are recorded also. Otherwise only the number of decisions is recorded. */
  readonly #tellsQuestions: boolean
  /** Decisions of the request that is being handled. */
  #decided: Decided[] = []

  constructor(tellsQuestions: boolean) {
    this.#tellsQuestions = tellsQuestions
  }

  /** The decisions of the handler that is called next are recorded in `decided`. */
  begin(decided: Decided[]): void {
    this.#decided = decided
  }

  decided(isAllowed: boolean, _environmentId: string, asked: Query | PackedQueries): void {
    this.#decided.push(this.#decidedOf([isAllowed], 'user' in asked ? [asked] : asked, true))
  }

  decidedAll(decisions: Verdicts, _environmentId: string, asked: readonly Query[] | PackedQueries): void {
    this.#decided.push(this.#decidedOf(decisions, asked, false))
  }

  later(): (decisions: Verdicts, environmentId: string, asked: readonly Query[]) => void {
    const decided = this.#decided
    return (decisions, _environmentId, asked) => decided.push(this.#decidedOf(decisions, asked, false))
  }

  asked(
    _environmentId: string,
    asked: Query | readonly Query[] | PackedQueries,
  ): (decisions: Verdicts) => void {
    const decided = this.#decided
    const isSingle = 'user' in asked
    const questions = isSingle ? [asked] : asked
    return decisions => decided.push(this.#decidedOf(decisions, questions, isSingle))
  }

  #decidedOf(decisions: Verdicts, asked: readonly Query[] | PackedQueries, isSingle: boolean): Decided {
    return { isSingle, decisions: Uint8Array.from(decisions, Number), asked: this.#questions(asked) }
  }

  #questions(asked: readonly Query[] | PackedQueries): PackedData | readonly Query[] {
    if (asked instanceof PackedQueries) return this.#packed(asked)
    if (!this.#tellsQuestions) return asked.slice(0, 1).map(cut)
    const packed = packQueries(asked)
    return packed === null ? asked.map(cut) : this.#packed(packed)
  }

  #packed(packed: PackedQueries): PackedData {
    const { count, bytes } = packed
    const numbers = new Map<QueryTerms, number>()
    const termsIndex = Int32Array.from({ length: count }, (_, index) => {
      const terms = packed.terms(index)
      const number = numbers.get(terms) ?? numbers.size
      if (number === numbers.size) numbers.set(terms, number)
      return number
    })
    const termsTable = [...numbers.keys()]
    if (!this.#tellsQuestions) return { count, bytes: null, keyRanges: NO_RANGES, termsTable, termsIndex }
    const { buffer, byteOffset, byteLength } = bytes
    const copied = new Uint8Array(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
    return {
      count,
      bytes: copied,
      keyRanges: packed.keyRanges.slice(0, count * RANGE_WORDS),
      termsTable,
      termsIndex,
    }
  }
}

function cut(query: Query): Query {
  const { user, action, type, key, tenant } = query
  const short = (name: string) => name.slice(0, NAME_LENGTH_MAX)
  return {
    user: short(user),
    action: short(action),
    type: short(type),
    key: key === null ? null : short(key),
    tenant: tenant === null ? null : short(tenant),
  }
}
