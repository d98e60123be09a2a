/** All streams of changes that this node has open: how many there may be, in all and with one key. */
import type { Waiting } from '#decisions/decision-pool.ts'
import { AuthzError } from '#model/errors.ts'
import type { ChangeFilter } from './change-filter.ts'
import { ChangeSubscription } from './change-subscription.ts'
import type { EnvironmentChanges } from './environment-changes.ts'
import type { StreamPosition } from './stream-position.ts'

export interface StreamCeilings {
  /** Streams of this node. */
  readonly streamsMax: number
  /** Streams of this node with one key. */
  readonly streamsPerKeyMax: number
  /** Environments in which it is told who gains and who loses: each takes an index more. */
  readonly effectiveEnvironmentsMax: number
  /** How long a stream that is asked for waits for a commit that this node does not have yet. */
  readonly waitMs: number
}

/** The key in `ADMIN_API_KEY` has no id. */
const ADMIN = ''

export class ChangeStreams {
  readonly #ceilings: StreamCeilings
  /** For how long this node may have missed what others committed in that environment. */
  readonly #stalenessMs: (environmentId: string) => number
  readonly #ofKeys = new Map<string, number>()
  /** Environments in which whose access changes is told, with their streams. */
  readonly #ofEffective = new Map<string, number>()
  #count = 0

  constructor(ceilings: StreamCeilings, stalenessMs: (environmentId: string) => number) {
    this.#ceilings = ceilings
    this.#stalenessMs = stalenessMs
  }

  /** Throws `RATE_LIMITED` when there are too many, and what `ChangeSubscription.open` throws. */
  async open(asked: {
    readonly changes: EnvironmentChanges
    readonly environmentId: string
    readonly filter: ChangeFilter
    readonly since: StreamPosition | null
    readonly keyId: string | null
    readonly waiting: Waiting
  }): Promise<ChangeSubscription> {
    const { changes, environmentId, filter, since, keyId, waiting } = asked
    const leave = this.#enter(keyId ?? ADMIN, filter.effective ? environmentId : null)
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

  /** `effective`: the environment of which it is to be told who gains and who loses. */
  #enter(key: string, effective: string | null): () => void {
    const { streamsMax, streamsPerKeyMax, effectiveEnvironmentsMax } = this.#ceilings
    const own = this.#ofKeys.get(key) ?? 0
    if (own >= streamsPerKeyMax) {
      const message = `${own} streams of changes are open with this key, which is as many as may be (MAX_CHANGE_STREAMS_PER_KEY)`
      throw new AuthzError('RATE_LIMITED', message, { limit: 'key-streams' })
    }
    if (this.#count >= streamsMax) {
      const message = `${this.#count} streams of changes are open, which is as many as may be (MAX_CHANGE_STREAMS)`
      throw new AuthzError('RATE_LIMITED', message, { limit: 'streams' })
    }
    const isOneMore = effective !== null && !this.#ofEffective.has(effective)
    if (isOneMore && this.#ofEffective.size >= effectiveEnvironmentsMax) {
      const message = `whose access changes is told of ${this.#ofEffective.size} environments, which is as many as may be (MAX_EFFECTIVE_ENVIRONMENTS)`
      throw new AuthzError('RATE_LIMITED', message, { limit: 'effective-streams' })
    }
    this.#add(key, effective, 1)
    return () => this.#add(key, effective, -1)
  }

  #add(key: string, effective: string | null, change: 1 | -1): void {
    this.#count += change
    count(this.#ofKeys, key, change)
    if (effective !== null) count(this.#ofEffective, effective, change)
  }
}

function count(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const now = (counts.get(name) ?? 0) + change
  if (now === 0) counts.delete(name)
  else counts.set(name, now)
}
