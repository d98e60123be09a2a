/**
 * Ends the facts of one index when their time has come, on the thread that writes it. What has ended is out of the index before anybody
 * is told, so decisions do not wait for the store: it removes the rows later.
 *
 * This thread may be late: it may be busy, or the whole process was stopped for a while. So threads that decide have a deadline, too:
 * somewhat behind the next end. While it is over, they wait for this thread (`engine-readers.ts`).
 */
import type { Change } from '#model/change.ts'
import { StalenessDeadline, type DeadlineHandle } from './staleness-deadline.ts'

/** The part of an index's writer that this is about. See `SharedIndexWriter`. */
export interface EndingIndex {
  endDue(now: number, limit: number): Change[]
  readonly wakeAt: number
  readonly endsFrom: number
}

/** Facts removed in one section: half a millisecond. */
const ENDED_AT_ONCE = 128
/** Sections in a turn of the loop, which may take many milliseconds: where thousands end together, removing their rows begins, too. */
const SECTIONS_AT_ONCE = 8
/**
 * How far behind an end the deadline is. Nobody is to be allowed anything 50 ms after an end, and the decision itself takes a while.
 */
const GRACE_MS = 30
/** The clock may be set: it is looked at so often while anything ends. */
const LOOK_MS_MAX = 1_000
const DEADLINE_MS_MAX = 3_600_000

export interface EndingFactsOptions {
  readonly index: EndingIndex
  /** A clock of this thread that deadlines go by. */
  readonly clock: StalenessDeadline
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Told what the store is still to remove. */
  readonly onEnded: (removals: readonly Change[]) => void
  readonly onFault: (error: unknown) => void
}

export class EndingFacts {
  readonly #options: EndingFactsOptions
  readonly #deadline: StalenessDeadline
  #timer: NodeJS.Timeout | undefined
  #turn: NodeJS.Immediate | undefined
  #isOver = false
  /** What has ended this; null: nothing has. */
  #fault: Error | null = null

  constructor(options: EndingFactsOptions) {
    this.#options = options
    this.#deadline = options.clock.another()
  }

  /** The deadline of threads that decide on the index. */
  get deadline(): DeadlineHandle {
    return this.#deadline.handle
  }

  /** Ends all that has ended by now, before anybody decides on the index. Throws where that fails: nobody may decide on it then. */
  async catchUp(): Promise<void> {
    while (!this.look()) await new Promise(resolve => setImmediate(resolve))
    if (this.#fault !== null) throw this.#fault
  }

  /**
   * To be called behind each commit: ends some of what has ended, and plans the next look. True if nothing is there any more that
   * has ended.
   */
  look(): boolean {
    if (this.#isOver) return true
    try {
      for (let section = 1; !this.#endSome(); section++) if (section === SECTIONS_AT_ONCE) return false
      return true
    } catch (error) {
      this.stop()
      this.#fault = error instanceof Error ? error : new Error(String(error))
      this.#options.onFault(error)
      return true
    }
  }

  /** One section. Returns whether nothing is left. */
  #endSome(): boolean {
    const { index, now, onEnded } = this.#options
    // Before the clock is read: a process that is stopped in between then takes ends for earlier than they are, and not for later.
    const startedAt = performance.now()
    const at = now()
    const removals = index.endDue(at, ENDED_AT_ONCE)
    const isDone = index.wakeAt > at
    const nowAt = at + performance.now() - startedAt
    this.#deadline.set(this.#deadlineIn(index.endsFrom - nowAt))
    this.#plan(index.wakeAt - nowAt)
    if (removals.length > 0) onEnded(removals)
    return isDone
  }

  /** The index is not used any more. */
  stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    clearImmediate(this.#turn)
  }

  #deadlineIn(endsInMs: number): number {
    return endsInMs === Infinity ? Infinity : Math.min(endsInMs + GRACE_MS, DEADLINE_MS_MAX)
  }

  #plan(wakeInMs: number): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#turn)
    if (this.#isOver || wakeInMs === Infinity) return
    const look = (): void => void this.look()
    if (wakeInMs <= 0) {
      this.#turn = setImmediate(look)
      return
    }
    this.#timer = setTimeout(look, Math.min(Math.ceil(wakeInMs), LOOK_MS_MAX))
    this.#timer.unref()
  }
}
