/** Who writes into one service, ours or another's, at its turns, and keeps what came of it. */
import { Caller, inTurnsOfCallers } from './load-generator.ts'
import { median } from './measure.ts'

export const USERS = 1_000
export const FOLDERS = 200
const SECONDS = 1.5
const BULKS_A_ROUND = 4
const CALLERS_BESIDE = 16

/** What a service has used so far. */
export interface Used {
  readonly cpuSeconds: number
  readonly diskBytes: number
}

/** Of writes by their number, and of bulks by theirs: each of them is made once. */
export interface Target {
  readonly name: string
  readonly address: string
  /** Facts in the largest request. */
  readonly bulkSize: number
  single(nth: number): Buffer
  bulk(nth: number): Buffer
  /** Null where it is more than one process. */
  used(): Used | null
  /** Throws unless so many writes and bulks, all of which were answered, are what decides, and nothing else is. */
  verify(singles: number, bulks: number): Promise<void>
  stop(): Promise<void>
}

export type Figures = Map<string, number[]>

export class Writer {
  readonly target: Target
  /** By figure, one value a round. */
  readonly rates: Figures = new Map()
  readonly p50s: Figures = new Map()
  readonly cpuMs: Figures = new Map()
  readonly diskKb: Figures = new Map()
  #singles = 0
  #bulks = 0

  constructor(target: Target) {
    this.target = target
  }

  async singles(callers: number): Promise<void> {
    const before = this.target.used()
    const { perSecond, ms } = await inTurnsOfCallers(
      this.target.address,
      () => this.target.single(this.#singles++),
      { callers, seconds: SECONDS },
    )
    this.#note(callers === 1 ? '1 caller' : `${callers} callers`, perSecond, ms, before)
  }

  async bulks(): Promise<void> {
    const before = this.target.used()
    const caller = await Caller.open(this.target.address)
    const ms: number[] = []
    for (let count = 0; count < BULKS_A_ROUND; count += 1) {
      const request = this.target.bulk(this.#bulks++)
      const from = performance.now()
      await caller.done(request)
      ms.push(performance.now() - from)
    }
    caller.close()
    this.#note('bulks', this.target.bulkSize / (median(ms) / 1_000), ms, before)
  }

  /** Writes, and does not measure, until there are so many single writes. */
  async goOn(singles: number): Promise<void> {
    const run = async (): Promise<void> => {
      const caller = await Caller.open(this.target.address)
      while (this.#singles < singles) await caller.done(this.target.single(this.#singles++))
      caller.close()
    }
    await Promise.all(Array.from({ length: CALLERS_BESIDE }, run))
  }

  verify(): Promise<void> {
    return this.target.verify(this.#singles, this.#bulks)
  }

  /** What was written so far: single writes, and facts with those of bulks. */
  get written(): { readonly singles: number; readonly facts: number } {
    return { singles: this.#singles, facts: this.#singles + this.#bulks * this.target.bulkSize }
  }

  #note(figure: string, perSecond: number, ms: readonly number[], before: Used | null): void {
    push(this.rates, figure, perSecond)
    push(this.p50s, figure, median(ms))
    const after = this.target.used()
    if (!before || !after) return
    push(this.cpuMs, figure, ((after.cpuSeconds - before.cpuSeconds) * 1_000) / ms.length)
    push(this.diskKb, figure, (after.diskBytes - before.diskBytes) / 1_024 / ms.length)
  }
}

function push(lists: Figures, name: string, value: number): void {
  const list = lists.get(name)
  if (list) list.push(value)
  else lists.set(name, [value])
}

export function userOf(index: number): string {
  return `user-${index % USERS}`
}

/** Whom the n-th write lets read which document. */
export function assignedBy(nth: number): { readonly user: string; readonly document: string } {
  return { user: userOf(nth), document: `written-${nth}` }
}

/** In which folder each document of the n-th bulk lies. */
export function placedBy(
  nth: number,
  size: number,
): readonly { readonly folder: string; readonly document: string }[] {
  return Array.from({ length: size }, (_, index) => ({
    folder: `folder-${index % FOLDERS}`,
    document: `bulk-${nth}-${index}`,
  }))
}
