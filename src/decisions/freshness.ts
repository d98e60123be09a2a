/**
 * Decides how a node reacts when it has received nothing from its store for some time, for all environments
 * or for one. The node first reports that it is stale and keeps making decisions. After `maxStaleMs` it stops
 * making decisions, so that it does not grant a permission indefinitely after another node revoked it.
 *
 * All decisions depend on the organization, because its keys might have been revoked: if changes of the
 * organization are missing, all decisions stop. If changes of one environment are missing, only decisions of
 * that environment stop.
 */

/**
 * `stopped`: decisions are not permitted. `emptied`: the same, because the store has lost the data that this
 * node knows.
 */
export type FreshnessState = 'fresh' | 'stale' | 'stopped' | 'emptied'

export interface FreshnessOptions {
  /** Time for which changes of the organization might have been missed, in milliseconds. */
  readonly stalenessMs: () => number
  /** Returns whether the store has lost all data that this node knows. */
  readonly isEmptied: () => boolean
  /** Environments for which this node makes decisions. */
  readonly environmentIds: () => Iterable<string>
  /** The same as `stalenessMs` for one environment. */
  readonly stalenessMsOf: (environmentId: string) => number
  readonly staleAfterMs: number
  /** 0: decisions continue without a time limit. */
  readonly maxStaleMs: number
  /**
   * Called at every check with the time for which decisions are permitted from now on, in milliseconds.
   * Infinite without a time limit.
   */
  readonly onLook: (decidesForMs: number) => void
  readonly onLookAt: (environmentId: string, decidesForMs: number) => void
  /** Called when the node becomes fresh or stale. */
  readonly onFresh: (isFresh: boolean) => void
  readonly onChange: (state: FreshnessState, stalenessMs: number) => void
  /**
   * Called when the state of one environment changes while the organization is fresh. Otherwise the state is
   * the same for all environments.
   */
  readonly onChangeOf: (environmentId: string, state: FreshnessState, stalenessMs: number) => void
}

/**
 * The check interval is the shortest relevant time limit divided by this number. A limit is exceeded by at
 * most 5 percent, or by `LOOK_MS_MIN` if that is more.
 */
const LOOKS_PER_BOUND = 20
const LOOK_MS_MIN = 5
const LOOK_MS_MAX = 250

export class Freshness {
  readonly #options: FreshnessOptions
  #state: FreshnessState = 'fresh'
  /** Time since which changes of the organization are received; infinite while they are not. */
  #reachableSince = performance.now()
  /** States of the environments that are not fresh while the organization is fresh. */
  readonly #states = new Map<string, FreshnessState>()
  #isFresh = true
  readonly #timer: NodeJS.Timeout

  constructor(options: FreshnessOptions) {
    this.#options = options
    const bounds = [options.staleAfterMs, options.maxStaleMs].filter(bound => bound > 0)
    const everyMs = Math.max(LOOK_MS_MIN, Math.min(LOOK_MS_MAX, Math.min(...bounds) / LOOKS_PER_BOUND))
    this.#timer = setInterval(() => this.look(), everyMs)
  }

  /** Compares the state with the limits and reports changes. */
  look(): void {
    const { stalenessMs, environmentIds, onLook, onFresh, onChange } = this.#options
    const age = stalenessMs()
    const state = this.#stateAt(age)
    const decidesForMs = this.#decidesForMs(age, state)
    onLook(decidesForMs)
    if (state !== this.#state) {
      this.#state = state
      onChange(state, age)
    }
    if (age >= this.#owedMs) this.#reachableSince = Infinity
    else if (this.#reachableSince === Infinity) this.#reachableSince = performance.now()
    for (const id of environmentIds()) this.#lookAt(id, decidesForMs)
    const isFresh = state === 'fresh' && this.#states.size === 0
    if (isFresh === this.#isFresh) return
    this.#isFresh = isFresh
    onFresh(isFresh)
  }

  /** The same for one environment, before decisions are made for it. */
  lookAt(environmentId: string): void {
    const age = this.#options.stalenessMs()
    this.#lookAt(environmentId, this.#decidesForMs(age, this.#stateAt(age)))
  }

  /** Stops tracking an environment for which no more decisions are made. */
  forget(environmentId: string): void {
    this.#states.delete(environmentId)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #lookAt(environmentId: string, decidesForMs: number): void {
    const { stalenessMsOf, onLookAt, onChangeOf } = this.#options
    const age = stalenessMsOf(environmentId)
    const state = this.#stateOf(age)
    onLookAt(environmentId, Math.min(decidesForMs, this.#decidesForMs(age, state)))
    // A failure of the store affects all environments at about the same time, so it is not reported per
    // environment.
    const isStable = performance.now() - this.#reachableSince >= this.#owedMs
    const former = this.#states.get(environmentId) ?? 'fresh'
    if (state === former || !(isStable || state === 'fresh')) return
    if (state === 'fresh') this.#states.delete(environmentId)
    else this.#states.set(environmentId, state)
    onChangeOf(environmentId, state, age)
  }

  /**
   * Time in which an environment catches up with the organization, unless that environment itself cannot be
   * followed.
   */
  get #owedMs(): number {
    return this.#options.staleAfterMs / 2
  }

  #decidesForMs(age: number, state: FreshnessState): number {
    const { maxStaleMs } = this.#options
    if (state === 'emptied') return 0
    return maxStaleMs === 0 ? Infinity : maxStaleMs - age
  }

  #stateAt(age: number): FreshnessState {
    return this.#options.isEmptied() ? 'emptied' : this.#stateOf(age)
  }

  #stateOf(age: number): FreshnessState {
    const { staleAfterMs, maxStaleMs } = this.#options
    if (maxStaleMs > 0 && age >= maxStaleMs) return 'stopped'
    return age >= staleAfterMs ? 'stale' : 'fresh'
  }
}
