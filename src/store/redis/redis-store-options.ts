/** What a store in Redis is opened with. */
import type { AuthzError } from '#model/errors.ts'
import type { LargeWrites } from '#store/large-writes.ts'
import type { Row } from '#store/ledger.ts'
import type { Tables } from '#store/tables.ts'
import type { ListRule } from '#store/view.ts'
import type { RedisAddress } from './redis-url.ts'
import type { StoreLog } from '#store/store-log.ts'

export interface RedisStoreOptions {
  readonly address: RedisAddress
  readonly listRule: ListRule
  readonly logEntriesMax: number
  /** A directory that exists and belongs to this store alone. */
  readonly directory: string
  /** Opens tables in a directory that need not exist yet. */
  readonly openTables: (directory: string) => Promise<Tables>
  readonly staleAfterMs: number
  /** For how long decisions may rest on a local copy, counted from when it last had everything; 0: without limit. */
  readonly maxStaleMs: number
  /** Whether to accept a server that evicts keys when it is full. */
  readonly allowsEviction: boolean
  /**
   * An environment with at most so many rows is loaded with its lists before anything is read. In a larger one the lists
   * follow.
   */
  readonly listedAtOnceMax: number
  /** Whether loads of an index never look up rows with that key. */
  readonly isKeyedLater: (key: Uint8Array) => boolean
  /** Whether a row can be decoded. */
  readonly isReadable: (row: Pick<Row, 'key' | 'value'>) => boolean
  /** Makes writes into copies that would keep this thread for too long; null: this thread makes all writes. */
  readonly largeWrites: LargeWrites | null
  /** Builds keys and lists of the copy in that directory in another thread; null: this thread builds them. */
  readonly buildLists: ((directory: string, signal: AbortSignal) => Promise<void>) | null
  readonly log: StoreLog
  /** Told of an environment of which Redis has lost a part, so that nobody may decide on its copy. */
  readonly onDamage: (environmentId: string, damage: AuthzError) => void
  /** Told of a defect or damage that keeps an environment from being followed. */
  readonly onFault: (environmentId: string, error: Error) => void
  /** Called after everything else is closed. */
  readonly release: () => void
}
