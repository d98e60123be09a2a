/**
 * Reads the log in Redis for one reader. Each read includes the entry at the current position, and compares
 * its commit id with the known one: only this id shows that an epoch was rewound and then continued with
 * other commits.
 */
import type { Revision } from '#model/revision.ts'
import { feedFailure } from '#store/embedded/log-feed.ts'
import { textOf } from '#model/text/byte-text.ts'
import type { LogEntry } from '#store/ledger.ts'
import {
  commitIdOf,
  entryOfParts,
  formerIdOf,
  isFirstPart,
  isLastPart,
  positionOf,
  type StreamEntry,
} from './log-part.ts'
import type { RedisKeys } from '#store/redis/link/redis-keys.ts'
import type { RedisLink, RedisReply } from '#store/redis/link/redis-link.ts'

/** Maximum number of stream entries in one response. It exceeds the number of parts of the largest commit. */
const ENTRIES_PER_READ = 256
/**
 * Number of stream entries in one response for a replay that has read a commit. They are the entry at the
 * current position, and the first entry of the next commit.
 */
const ENTRIES_PER_STEP = 2

/** A revision, and the id of its commit if it is known. */
export interface LogPosition extends Revision {
  readonly id?: Uint8Array
}

export class RedisLog {
  readonly #link: RedisLink
  readonly #keys: RedisKeys
  readonly #epoch: string
  readonly #isReplay: boolean
  /** Whether a commit has been read. If so, `#part` identifies the entry at the current position. */
  #isPlaced = false
  #sequence: number
  /** The last part of the commit at the position, so that its other parts need not be read again. */
  #part = 0
  #id: Uint8Array | null

  /**
   * A replay reads one commit at a time, because there can be many replays, and each holds in memory the
   * commits that it has read.
   */
  constructor(link: RedisLink, keys: RedisKeys, after: LogPosition, { isReplay = false } = {}) {
    this.#link = link
    this.#keys = keys
    this.#epoch = after.epoch
    this.#isReplay = isReplay
    this.#sequence = after.sequence
    this.#id = after.id ?? null
  }

  /**
   * Returns the next commits after the position, and advances the position. Returns no commits if there are
   * no more. Throws `STORE_RESET`, `REVISION_TOO_OLD`, and the errors of the link.
   */
  async read(): Promise<readonly LogEntry[]> {
    // This is requested before the log, so that the log reflects a later replacement of the epoch.
    const meta = this.#link.send('HMGET', this.#keys.meta, 'epoch', 'sequence', 'id')
    const count = this.#isReplay && this.#isPlaced ? ENTRIES_PER_STEP : ENTRIES_PER_READ
    const log = this.#range(`${this.#sequence}-${this.#part}`, count)
    const [[epoch, sequence, id], parts] = await Promise.all([
      meta as Promise<readonly (Buffer | null)[]>,
      log,
    ])
    if (epoch?.toString('latin1') !== this.#epoch)
      throw feedFailure('STORE_RESET', this.#epoch, this.#sequence)
    const behind = parts.findIndex(part => positionOf(part).sequence !== this.#sequence)
    const own = behind < 0 ? parts : parts.slice(0, behind)
    const next = behind < 0 ? [] : parts.slice(behind)
    const [last, [first]] = [own.at(-1), next]
    if (last) this.#compare(last)
    // Before the first commit, there is nothing to compare.
    else if (this.#sequence > 0) this.#compareWithout({ sequence: Number(sequence), id: id ?? null }, first)
    return this.#take(next)
  }

  /**
   * Checks that the entry at the current position is the same one as in the previous read. The entry itself
   * is compared and not the head, because the head lags behind the log while a commit is incomplete.
   */
  #compare(last: StreamEntry): void {
    const id = commitIdOf(last)
    if (this.#id !== null && !isSame(this.#id, id)) {
      throw feedFailure('STORE_RESET', this.#epoch, this.#sequence)
    }
    this.#id = id
    this.#part = positionOf(last).part
  }

  /**
   * Called if the log has no entry at the current position. A log that was lost and then created again can
   * still contain every commit after that position.
   */
  #compareWithout(
    head: { readonly sequence: number; readonly id: Uint8Array | null },
    next: StreamEntry | undefined,
  ): void {
    if (head.sequence < this.#sequence) throw feedFailure('STORE_RESET', this.#epoch, this.#sequence)
    const isHead = head.sequence === this.#sequence && isSame(this.#id, head.id)
    if (isHead || (next && isSame(this.#id, formerIdOf(next)))) return
    throw feedFailure('REVISION_TOO_OLD', this.#epoch, this.#sequence)
  }

  /**
   * Returns the complete commits among the parts. If the response truncates the only commit, its rest is
   * fetched. A commit without a last part was not made.
   */
  async #take(found: readonly StreamEntry[]): Promise<readonly LogEntry[]> {
    const entries: LogEntry[] = []
    let parts: StreamEntry[] = []
    let rest = found
    for (;;) {
      for (const part of rest) {
        if (isFirstPart(part)) parts = []
        parts.push(part)
        if (!isLastPart(part)) continue
        entries.push(this.#advance(parts))
        if (this.#isReplay) return entries
        parts = []
      }
      const cutOff = parts.at(-1)
      if (entries.length > 0 || !cutOff) return entries
      rest = await this.#range(`(${cutOff[0].toString('latin1')}`)
      if (rest.length === 0) return entries
    }
  }

  #advance(parts: readonly StreamEntry[]): LogEntry {
    const entry = entryOfParts(this.#epoch, parts)
    const { sequence } = entry.revision
    if (sequence !== this.#sequence + 1) throw feedFailure('REVISION_TOO_OLD', this.#epoch, this.#sequence)
    this.#sequence = sequence
    this.#part = positionOf(parts.at(-1)!).part
    this.#id = entry.id
    this.#isPlaced = true
    return entry
  }

  async #range(start: string, count = ENTRIES_PER_READ): Promise<readonly StreamEntry[]> {
    const reply: RedisReply = await this.#link.send('XRANGE', this.#keys.log, start, '+', 'COUNT', count)
    return reply as unknown as readonly StreamEntry[]
  }
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return one !== null && other !== null && textOf(one) === textOf(other)
}
