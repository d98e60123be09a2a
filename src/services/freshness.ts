/**
 * What it means that a node has not heard from its store for a while. It says so, and goes on deciding; and in the end it
 * stops, so that a right that was taken away elsewhere is not granted here without end.
 */

/** `stopped`: it must not decide any more. `emptied`: nor then, since what it knows was lost by the store. */
export type Standing = 'fresh' | 'stale' | 'stopped' | 'emptied'

export interface FreshnessOptions {
  /** For how long changes may have been missed, in milliseconds. */
  readonly stalenessMs: () => number
  /** Whether the store holds nothing any more of what is known here. */
  readonly isEmptied: () => boolean
  readonly staleAfterMs: number
  /** 0: goes on deciding, however long. */
  readonly maxStaleMs: number
  /** Told at every look: for how long from now on decisions may be made. Milliseconds; infinite, where for ever. */
  readonly onLook: (decidesForMs: number) => void
  readonly onChange: (standing: Standing, stalenessMs: number) => void
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
  readonly #timer: NodeJS.Timeout

  constructor(options: FreshnessOptions) {
    this.#options = options
    const bounds = [options.staleAfterMs, options.maxStaleMs].filter(bound => bound > 0)
    const everyMs = Math.max(LOOK_MS_MIN, Math.min(LOOK_MS_MAX, Math.min(...bounds) / LOOKS_PER_BOUND))
    this.#timer = setInterval(() => this.look(), everyMs)
  }

  get standing(): Standing {
    return this.#standing
  }

  /** Compares now, and tells of a change. */
  look(): void {
    const { stalenessMs, maxStaleMs, onLook, onChange } = this.#options
    const age = stalenessMs()
    const standing = this.#standingAt(age)
    const decidesForMs = maxStaleMs === 0 ? Infinity : maxStaleMs - age
    onLook(standing === 'emptied' ? 0 : decidesForMs)
    if (standing === this.#standing) return
    this.#standing = standing
    onChange(standing, age)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #standingAt(age: number): Standing {
    const { staleAfterMs, maxStaleMs, isEmptied } = this.#options
    if (isEmptied()) return 'emptied'
    if (maxStaleMs > 0 && age >= maxStaleMs) return 'stopped'
    return age >= staleAfterMs ? 'stale' : 'fresh'
  }
}
