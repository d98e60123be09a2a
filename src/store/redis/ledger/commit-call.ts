/**
 * Sends a commit to `commit.lua`, in one call or staged in several, and interprets the return codes of the
 * script.
 */
import { encodeChanges } from '#store/keyspace/change-codec.ts'
import { assert } from '#model/assert.ts'
import { AuthzError, ConflictError } from '#model/errors.ts'
import { textOf } from '#model/text/byte-text.ts'
import type { Commit, Requirement } from '#store/ledger.ts'
import type { RedisKeys } from '#store/redis/link/redis-keys.ts'
import type { Argument, RedisLink, RedisReply } from '#store/redis/link/redis-link.ts'
import type { LogPosition } from './redis-log.ts'
import { COMMIT } from '#store/redis/scripts/scripts.ts'
import { DamagedStoreError } from '#store/redis/link/damaged-store-error.ts'

/**
 * Maximum number of rows in the call itself. The rows of a larger commit are staged in several commands, so
 * that no single command blocks the server because of its size.
 */
export const CALL_ROWS_MAX = 500
/**
 * Time in seconds after which staged rows expire. It is longer than the time for which a sender retries its
 * commit.
 */
const STAGED_SECONDS = 120
/**
 * Limits of one command that stages rows: the number of items, and the size of the items except the last one.
 */
const STAGED_ITEMS_MAX = 2_000
const STAGED_BYTES_MAX = 4_194_304

export interface CommitSettings {
  readonly epoch: string
  readonly keys: RedisKeys
  readonly logEntriesMax: number
  /**
   * Position on which the sender's reads are based. Null if the commit is correct even if earlier
   * commits were lost.
   */
  readonly ground: LogPosition | null
}

/** Outcome of a call. */
export type ScriptOutcome =
  | {
      readonly kind: 'committed'
      readonly sequence: number
      /**
       * Name of a key that Redis lost and that the script created again, because the key contained no part of
       * the current state. Null if no such key was lost.
       */
      readonly lostKey: string | null
    }
  | { readonly kind: 'conflict'; readonly error: ConflictError; readonly headSequence: number }

/**
 * The rows staged for a call are gone, for example because the server lost them for lack of memory. The call
 * must be made again.
 */
export class UnstagedError extends AuthzError {
  constructor() {
    super('STORE_REFUSED', 'nothing was changed: the store does not keep the staged rows of a commit')
  }
}

export class CommitCall {
  readonly #commit: Commit
  readonly #settings: CommitSettings
  readonly #items: Argument[]
  readonly #isStaged: boolean
  #attempt = 0

  constructor(commit: Commit, settings: CommitSettings) {
    assertDistinct(commit)
    this.#commit = commit
    this.#settings = settings
    this.#items = [
      ...commit.require.flatMap(requirementItems),
      ...commit.delete,
      ...commit.put.flatMap(({ key, value }) => [key, value]),
    ].map(asBuffer)
    const bytes = this.#items.reduce<number>((sum, item) => sum + bytesOf(item), 0)
    this.#isStaged = commit.put.length + commit.delete.length > CALL_ROWS_MAX || bytes > STAGED_BYTES_MAX
  }

  /**
   * Makes the call. `knownSequence` is null if the commit has never been sent. Otherwise it is the newest
   * sequence that the sender knew when it first sent the commit. Throws the errors of the link,
   * `UnstagedError`, `STORE_RESET` if the ledger has another epoch now, `DamagedStoreError`, and
   * `STORE_UNAVAILABLE` if it can no longer be determined whether an earlier call made the commit. If the
   * method throws, nothing was committed, with two exceptions: this last case, and a missing response.
   */
  async make(link: RedisLink, knownSequence: number | null): Promise<ScriptOutcome> {
    const { epoch, keys, logEntriesMax, ground } = this.#settings
    const { id, require, put, changes, delete: removed } = this.#commit
    const stagedKey = this.#isStaged ? await this.#stage(link) : null
    const reply = await link.run(
      COMMIT,
      [keys.meta, keys.rows, keys.log, keys.ids, ...(stagedKey === null ? [] : [stagedKey])],
      [
        epoch,
        asBuffer(id),
        knownSequence ?? -1,
        logEntriesMax,
        keys.channel,
        encodeChanges(changes),
        require.length,
        removed.length,
        put.length,
        ground?.id ? ground.sequence : 0,
        asBuffer(ground?.id ?? ''),
        ...(stagedKey === null ? this.#items : []),
      ],
    )
    return this.#outcome(reply)
  }

  /**
   * Stages the rows. Each attempt uses a new list, because an earlier attempt might have staged only some of
   * the rows.
   */
  async #stage(link: RedisLink): Promise<string> {
    this.#attempt += 1
    const name = `${Buffer.from(this.#commit.id).toString('hex')}-${this.#attempt}`
    const key = this.#settings.keys.staged(name)
    for (let from = 0; from < this.#items.length;) {
      let to = from
      for (
        let bytes = 0;
        to < this.#items.length && to - from < STAGED_ITEMS_MAX && bytes < STAGED_BYTES_MAX;
      ) {
        bytes += bytesOf(this.#items[to]!)
        to += 1
      }
      await link.send('RPUSH', key, ...this.#items.slice(from, to))
      await link.send('EXPIRE', key, STAGED_SECONDS)
      from = to
    }
    return key
  }

  #outcome(reply: RedisReply): ScriptOutcome {
    const [code, first, second] = reply as readonly RedisReply[]
    switch (code) {
      case 1:
        return { kind: 'committed', sequence: Number(first), lostKey: String(second) || null }
      case 0:
        return {
          kind: 'conflict',
          error: new ConflictError(this.#commit.require[Number(first)]!.key),
          headSequence: Number(second),
        }
      case -1:
        throw new AuthzError('STORE_RESET', 'the history of the store was replaced; nothing was written')
      case -2:
        throw new AuthzError('STORE_UNAVAILABLE', 'it is not known whether this commit was made')
      case -4:
        throw new DamagedStoreError(String(first))
      default:
        assert(code === -3, `commit.lua returns ${String(code)}`)
        throw new UnstagedError()
    }
  }
}

function requirementItems(requirement: Requirement): Argument[] {
  if ('absent' in requirement) return [requirement.key, 'a', 0]
  if ('head' in requirement) return [requirement.key, 'h', requirement.head]
  if ('version' in requirement) return [requirement.key, 'v', requirement.version]
  return [requirement.key, 'c', requirement.created]
}

function bytesOf(item: Argument): number {
  return item instanceof Uint8Array ? item.length : 0
}

/** The client accepts bytes only as a `Buffer`. The result shares the memory. */
function asBuffer(item: Argument): Argument {
  if (!(item instanceof Uint8Array) || Buffer.isBuffer(item)) return item
  return Buffer.from(item.buffer, item.byteOffset, item.byteLength)
}

function assertDistinct({ put }: Commit): void {
  assert(new Set(put.map(({ key }) => textOf(key))).size === put.length, 'a commit writes a key twice')
}
