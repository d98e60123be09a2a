/** Limits for the change streams that are open on this node: in total and per API key. */
import type { WaitingClient } from '#model/caller.ts'
import { AuthzError } from '#model/errors.ts'
import { type Principal, quotaIdOf } from '#model/principal.ts'
import type { ChangeFilter } from './change-filter.ts'
import { ChangeSubscription } from './change-subscription.ts'
import type { EnvironmentChanges } from './environment-changes.ts'
import type { StreamPosition } from './stream-position.ts'

export interface StreamCeilings {
  /** Maximum number of streams on this node. */
  readonly streamsMax: number
  /** Maximum number of streams on this node per key. */
  readonly streamsPerKeyMax: number
  /** Maximum number of environments with effective access changes. Each of them needs an additional index. */
  readonly effectiveEnvironmentsMax: number
  /** How long a new stream waits for a commit that this node has not received yet. */
  readonly waitMs: number
}

/** The key in `ADMIN_API_KEY` has no id. */
const ADMIN = ''

export class ChangeStreams {
  readonly #ceilings: StreamCeilings
  /** For how long this node may have missed commits of other nodes in that environment. */
  readonly #stalenessMs: (environmentId: string) => number
  readonly #ofKeys = new Map<string, number>()
  /**
   * Environments that report effective access changes, with the number of their streams. With 0 streams, the
   * index may still be loaded for returning readers.
   */
  readonly #ofEffective = new Map<EnvironmentChanges, number>()
  #count = 0

  constructor(ceilings: StreamCeilings, stalenessMs: (environmentId: string) => number) {
    this.#ceilings = ceilings
    this.#stalenessMs = stalenessMs
  }

  /**
   * Opens a stream. Throws `RATE_LIMITED` if there are too many, and all errors of `ChangeSubscription.open`.
   */
  async open(asked: {
    readonly changes: EnvironmentChanges
    readonly environmentId: string
    readonly filter: ChangeFilter
    readonly since: StreamPosition | null
    readonly principal: Principal
    readonly waiting: WaitingClient
  }): Promise<ChangeSubscription> {
    const { changes, environmentId, filter, since, principal, waiting } = asked
    const leave = this.#enter(principal, filter.effective ? changes : null)
    const stalenessMs = (): number => this.#stalenessMs(environmentId)
    const { waitMs } = this.#ceilings
    try {
      const opened = await ChangeSubscription.open({ changes, filter, since, waitMs, stalenessMs, waiting })
      opened.whenOver(leave)
      return opened
    } catch (error) {
      leave()
      throw error
    }
  }

  /**
   * `effective`: the environment whose effective access changes are requested; null if they are not
   * requested.
   */
  #enter(principal: Principal, effective: EnvironmentChanges | null): () => void {
    const key = quotaIdOf(principal) ?? ADMIN
    const { streamsMax, streamsPerKeyMax } = this.#ceilings
    const own = this.#ofKeys.get(key) ?? 0
    if (own >= streamsPerKeyMax) {
      const open =
        principal.session === undefined
          ? 'change streams are open with this key'
          : 'change streams of this member are open'
      const message = `${own} ${open}, which is the maximum (MAX_CHANGE_STREAMS_PER_KEY)`
      throw new AuthzError('RATE_LIMITED', message, { limit: 'key-streams' })
    }
    if (this.#count >= streamsMax) {
      const message = `${this.#count} change streams are open, which is the maximum (MAX_CHANGE_STREAMS)`
      throw new AuthzError('RATE_LIMITED', message, { limit: 'streams' })
    }
    if (effective !== null) this.#makeRoomFor(effective)
    this.#add(key, effective, 1)
    return () => this.#add(key, effective, -1)
  }

  /**
   * Frees an index that has no readers if the limit is reached. Throws `RATE_LIMITED` if
   * every index has readers.
   */
  #makeRoomFor(effective: EnvironmentChanges): void {
    const { effectiveEnvironmentsMax } = this.#ceilings
    const known = this.#ofEffective
    for (const [changes, streams] of known) if (streams === 0 && !changes.isFollowed) known.delete(changes)
    if (known.has(effective) || known.size < effectiveEnvironmentsMax) return
    for (const [changes, streams] of known) {
      if (streams > 0) continue
      changes.letGo()
      known.delete(changes)
      return
    }
    const message = `effective access changes are reported for ${known.size} environments, which is the maximum (MAX_EFFECTIVE_ENVIRONMENTS)`
    throw new AuthzError('RATE_LIMITED', message, { limit: 'effective-streams' })
  }

  #add(key: string, effective: EnvironmentChanges | null, change: 1 | -1): void {
    this.#count += change
    const ofKey = (this.#ofKeys.get(key) ?? 0) + change
    if (ofKey === 0) this.#ofKeys.delete(key)
    else this.#ofKeys.set(key, ofKey)
    if (effective !== null) this.#ofEffective.set(effective, (this.#ofEffective.get(effective) ?? 0) + change)
  }
}
