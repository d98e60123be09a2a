/** Records decisions, and optionally their requests, for the observer in another thread. */
import type { DecidedQuestion, DecisionObserver } from '#decisions/decision-observer.ts'
import type { AskingClient } from '#model/caller.ts'
import type { Query } from '#model/decision.ts'
import { packQueries, PackedQueries, type QueryTerms, RANGE_WORDS } from '#model/packed-queries.ts'
import type { Verdicts } from '#model/question.ts'
import type { Decided, PackedData } from '#threads/pool/body-jobs.ts'

/** The observer logs names of up to 512 characters. One more character shows it that a name was truncated. */
const NAME_LENGTH_MAX = 513

/** The client of a request whose decisions are recorded. */
export interface RecordedClient extends AskingClient {
  readonly decided: Decided[]
}

export class RecordedDecisions implements DecisionObserver {
  readonly readsChecks: boolean

  /** If `readsChecks` is false, only the decisions are recorded, without their checks. */
  constructor(readsChecks: boolean) {
    this.readsChecks = readsChecks
  }

  /** Records decisions for their request. `client` must be a `RecordedClient`. */
  decided(verdicts: Verdicts, asked: DecidedQuestion, _environmentId: string, client: AskingClient): void {
    const { isSingle, nonUserCount } = asked
    const checks = this.readsChecks ? checksOf(asked, verdicts.length) : null
    const { decided } = client as RecordedClient
    // Copies the verdicts, because those of single checks are constants.
    decided.push({ verdicts: verdicts.slice(), isSingle, nonUserCount, checks })
  }
}

function checksOf(asked: DecidedQuestion, count: number): PackedData | readonly Query[] {
  if (asked instanceof PackedQueries) return dataOf(asked)
  const checks = Array.from({ length: count }, (_, index) => asked.query(index))
  const packed = packQueries(checks)
  return packed === null ? checks.map(cut) : dataOf(packed)
}

function dataOf(packed: PackedQueries): PackedData {
  const { count, bytes, keyRanges } = packed
  const numbers = new Map<QueryTerms, number>()
  const termsIndex = Int32Array.from({ length: count }, (_, index) => {
    const terms = packed.terms(index)
    const number = numbers.get(terms) ?? numbers.size
    if (number === numbers.size) numbers.set(terms, number)
    return number
  })
  const { buffer, byteOffset, byteLength } = bytes
  return {
    count,
    bytes: new Uint8Array(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer),
    keyRanges: keyRanges.slice(0, count * RANGE_WORDS),
    termsTable: [...numbers.keys()],
    termsIndex,
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
