/**
 * What it means that a node has not heard from its store for a while, of everything or of one environment. It says so, and goes
 * on deciding; and in the end it stops, so that a right that was taken away elsewhere is not granted here without end.
 *
 * All rests on the organization, whose keys may have been revoked: without it all stops. What cannot be followed of one environment
 * stops that one alone.
 */

/** `stopped`: it must not decide any more. `emptied`: nor then, since what it knows was lost by the store. */
export type Standing = 'fresh' | 'stale' | 'stopped' | 'emptied'

export interface FreshnessOptions {
  /** For how long changes of the organization may have been missed, in milliseconds. */
  readonly stalenessMs: () => number
  /** Whether the store holds nothing any more of what is known here. */
  readonly isEmptied: () => boolean
  /** Those that are decided on. */
  readonly environmentIds: () => Iterable<string>
  /** The same of one of them. */
  readonly stalenessMsOf: (environmentId: string) => number
  readonly staleAfterMs: number
  /** 0: goes on deciding, however long. */
  readonly maxStaleMs: number
  /** Told at every look: for how long from now on decisions may be made. Milliseconds; infinite, where for ever. */
  readonly onLook: (decidesForMs: number) => void
  readonly onLookAt: (environmentId: string, decidesForMs: number) => void
  /** Told when it changes whether everything is heard of. */
  readonly onFresh: (isFresh: boolean) => void
  readonly onChange: (standing: Standing, stalenessMs: number) => void
  /** Of one environment, told while the organization is heard of: else it is the same for all. */
  readonly onChangeOf: (environmentId: string, standing: Standing, stalenessMs: number) => void
}

/**
 * Looks in the shortest of the times that matter: a bound is exceeded by a twentieth at most, and by `LOOK_MS_MIN` if that
 * is more.
 */
const LOOKS_PER_BOUND = 20
const LOOK_MS_MIN = 5
const LOOK_MS_MAX = 250

export class Freshness {
  readonly #options: FreshnessOptions
  #standing: Standing = 'fresh'
  /** Since when the organization is heard of; infinite while it is not. */
  #heardSince = performance.now()
  /** Of environments that are not fresh while the organization is. */
  readonly #standings = new Map<string, Standing>()
  #isFresh = true
  readonly #timer: NodeJS.Timeout

  constructor(options: FreshnessOptions) {
    this.#options = options
    const bounds = [options.staleAfterMs, options.maxStaleMs].filter(bound => bound > 0)
    const everyMs = Math.max(LOOK_MS_MIN, Math.min(LOOK_MS_MAX, Math.min(...bounds) / LOOKS_PER_BOUND))
    this.#timer = setInterval(() => this.look(), everyMs)
  }

  /** Compares now, and tells of changes. */
  look(): void {
    const { stalenessMs, environmentIds, onLook, onFresh, onChange } = this.#options
    const age = stalenessMs()
    const standing = this.#standingAt(age)
    const decidesForMs = this.#decidesForMs(age, standing)
    onLook(decidesForMs)
    if (standing !== this.#standing) {
      this.#standing = standing
      onChange(standing, age)
    }
    if (age >= this.#owedMs) this.#heardSince = Infinity
    else if (this.#heardSince === Infinity) this.#heardSince = performance.now()
    for (const id of environmentIds()) this.#lookAt(id, decidesForMs)
    const isFresh = standing === 'fresh' && this.#standings.size === 0
    if (isFresh === this.#isFresh) return
    this.#isFresh = isFresh
    onFresh(isFresh)
  }

  /** The same of one environment, before it is decided on. */
  lookAt(environmentId: string): void {
    const age = this.#options.stalenessMs()
    this.#lookAt(environmentId, this.#decidesForMs(age, this.#standingAt(age)))
  }

  /** It is decided on no more. */
  forget(environmentId: string): void {
    this.#standings.delete(environmentId)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #lookAt(environmentId: string, decidesForMs: number): void {
    const { stalenessMsOf, onLookAt, onChangeOf } = this.#options
    const age = stalenessMsOf(environmentId)
    const standing = this.#standingOf(age)
    onLookAt(environmentId, Math.min(decidesForMs, this.#decidesForMs(age, standing)))
    // What comes of a store that was silent comes to all at about the same time, and ends so.
    const isHeard = performance.now() - this.#heardSince >= this.#owedMs
    const former = this.#standings.get(environmentId) ?? 'fresh'
    if (standing === former || !(isHeard || standing === 'fresh')) return
    if (standing === 'fresh') this.#standings.delete(environmentId)
    else this.#standings.set(environmentId, standing)
    onChangeOf(environmentId, standing, age)
  }

  /** By when an environment is as fresh as the organization, if it is not itself what cannot be followed. */
  get #owedMs(): number {
    return this.#options.staleAfterMs / 2
  }

  #decidesForMs(age: number, standing: Standing): number {
    const { maxStaleMs } = this.#options
    if (standing === 'emptied') return 0
    return maxStaleMs === 0 ? Infinity : maxStaleMs - age
  }

  #standingAt(age: number): Standing {
    return this.#options.isEmptied() ? 'emptied' : this.#standingOf(age)
  }

  #standingOf(age: number): Standing {
    const { staleAfterMs, maxStaleMs } = this.#options
    if (maxStaleMs > 0 && age >= maxStaleMs) return 'stopped'
    return age >= staleAfterMs ? 'stale' : 'fresh'
  }
}
