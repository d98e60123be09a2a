/** Writes to a service of this project or of another product, in rounds, and records the results. */
import { LoadClient, inTurnsOfCallers } from './load-generator.ts'
import { median } from './measure.ts'

export const USERS = 1_000
export const FOLDERS = 200
const SECONDS = 1.5
const BULKS_A_ROUND = 4
const CALLERS_BESIDE = 16

/** Resources that a service has used since its start. */
export interface Used {
  readonly cpuSeconds: number
  readonly diskBytes: number
}

/**
 * A service that receives writes. A request is identified by its number. Each single write and each bulk is
 * sent only once.
 */
export interface Target {
  readonly name: string
  readonly address: string
  /** Number of facts in the largest request. */
  readonly bulkSize: number
  single(nth: number): Buffer
  bulk(nth: number): Buffer
  /** Returns the used resources. Null if the service consists of several processes. */
  used(): Used | null
  /**
   * Throws unless exactly the completed single writes and bulks are in effect. The arguments are their
   * numbers.
   */
  verify(singles: number, bulks: number): Promise<void>
  stop(): Promise<void>
}

export type Figures = Map<string, number[]>

export class Writer {
  readonly target: Target
  /** One value per round, by the name of the figure. */
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
    const caller = await LoadClient.open(this.target.address)
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

  /** Sends single writes without measuring them, until the given number of single writes is reached. */
  async goOn(singles: number): Promise<void> {
    const run = async (): Promise<void> => {
      const caller = await LoadClient.open(this.target.address)
      while (this.#singles < singles) await caller.done(this.target.single(this.#singles++))
      caller.close()
    }
    await Promise.all(Array.from({ length: CALLERS_BESIDE }, run))
  }

  verify(): Promise<void> {
    return this.target.verify(this.#singles, this.#bulks)
  }

  /** Number of single writes, and number of facts including those in bulks, that were written so far. */
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

/** The user and the document of the nth single write. */
export function assignedBy(nth: number): { readonly user: string; readonly document: string } {
  return { user: userOf(nth), document: `written-${nth}` }
}

/** The documents of the nth bulk and their folders. */
export function placedBy(
  nth: number,
  size: number,
): readonly { readonly folder: string; readonly document: string }[] {
  return Array.from({ length: size }, (_, index) => ({
    folder: `folder-${index % FOLDERS}`,
    document: `bulk-${nth}-${index}`,
  }))
}
