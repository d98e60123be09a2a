/**
 * Determines what a node does if it has received nothing from its store for some time, for all environments
 * or for a single one. The node first reports that it is stale, and continues to make decisions. After
 * `maxStaleMs`, it stops making decisions. Otherwise it could grant a permission indefinitely after another
 * node revoked it.
 *
 * All decisions also depend on the organization, because API keys might have been revoked. If changes of the
 * organization are missing, all decisions stop. If changes of one environment are missing, only the decisions
 * of that environment stop.
 */

/**
 * `stopped`: decisions are not permitted. `emptied`: decisions are not permitted, because the store has lost
 * the data that this node has loaded.
 */
export type StalenessState = 'fresh' | 'stale' | 'stopped' | 'emptied'

export interface StalenessOptions {
  /** Time for which this node might have missed changes of the organization, in milliseconds. */
  readonly stalenessMs: () => number
  /** Returns whether the store has lost all data that this node has loaded. */
  readonly isEmptied: () => boolean
  /** Environments for which this node makes decisions. */
  readonly environmentIds: () => Iterable<string>
  /** Time for which this node might have missed changes of this environment, in milliseconds. */
  readonly stalenessMsOf: (environmentId: string) => number
  readonly staleAfterMs: number
  /** If it is 0, decisions continue without a time limit. */
  readonly maxStaleMs: number
  /**
   * Called at each check with the time for which decisions are still permitted, in milliseconds. The time is
   * infinite if there is no limit.
   */
  readonly onLook: (decidesForMs: number) => void
  readonly onLookAt: (environmentId: string, decidesForMs: number) => void
  /** Called when the node becomes fresh or stale. */
  readonly onFresh: (isFresh: boolean) => void
  readonly onChange: (state: StalenessState, stalenessMs: number) => void
  /**
   * Called when the state of one environment changes while the organization is fresh. While the organization
   * is not fresh, all environments have its state.
   */
  readonly onChangeOf: (environmentId: string, state: StalenessState, stalenessMs: number) => void
}

/**
 * The interval of the checks is the shortest time limit divided by this number. A limit is thus exceeded by
 * at most 5 percent, or by `LOOK_MS_MIN` if that is longer.
 */
const LOOKS_PER_BOUND = 20
const LOOK_MS_MIN = 5
const LOOK_MS_MAX = 250

export class Staleness {
  readonly #options: StalenessOptions
  #state: StalenessState = 'fresh'
  /**
   * Time since which this node has received changes of the organization without interruption; infinite during
   * an interruption.
   */
  #reachableSince = performance.now()
  /** States of the environments that are not fresh while the organization is fresh. */
  readonly #states = new Map<string, StalenessState>()
  #isFresh = true
  readonly #timer: NodeJS.Timeout

  constructor(options: StalenessOptions) {
    this.#options = options
    const bounds = [options.staleAfterMs, options.maxStaleMs].filter(bound => bound > 0)
    const everyMs = Math.max(LOOK_MS_MIN, Math.min(LOOK_MS_MAX, Math.min(...bounds) / LOOKS_PER_BOUND))
    this.#timer = setInterval(() => this.look(), everyMs)
  }

  /** Compares the staleness of all environments with the limits, and reports changes. */
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

  /** Checks a single environment, before decisions are made for it. */
  lookAt(environmentId: string): void {
    const age = this.#options.stalenessMs()
    this.#lookAt(environmentId, this.#decidesForMs(age, this.#stateAt(age)))
  }

  /** Forgets an environment for which no more decisions are made. */
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
    // The state of a single environment is not reported shortly after a failure of the store, because such a
    // failure affects all environments at about the same time.
    const isStable = performance.now() - this.#reachableSince >= this.#owedMs
    const former = this.#states.get(environmentId) ?? 'fresh'
    if (state === former || !(isStable || state === 'fresh')) return
    if (state === 'fresh') this.#states.delete(environmentId)
    else this.#states.set(environmentId, state)
    onChangeOf(environmentId, state, age)
  }

  /**
   * Time that an environment may need to catch up after the organization has caught up. If it needs longer,
   * that environment itself cannot be followed.
   */
  get #owedMs(): number {
    return this.#options.staleAfterMs / 2
  }

  #decidesForMs(age: number, state: StalenessState): number {
    const { maxStaleMs } = this.#options
    if (state === 'emptied') return 0
    return maxStaleMs === 0 ? Infinity : maxStaleMs - age
  }

  #stateAt(age: number): StalenessState {
    return this.#options.isEmptied() ? 'emptied' : this.#stateOf(age)
  }

  #stateOf(age: number): StalenessState {
    const { staleAfterMs, maxStaleMs } = this.#options
    if (maxStaleMs > 0 && age >= maxStaleMs) return 'stopped'
    return age >= staleAfterMs ? 'stale' : 'fresh'
  }
}
