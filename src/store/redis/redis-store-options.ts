/** Options of a store in Redis. */
import type { AuthzError } from '#model/errors.ts'
import type { LargeWrites } from '#store/large-writes.ts'
import type { Row } from '#store/ledger.ts'
import type { Tables } from '#store/tables.ts'
import type { ListRule } from '#store/view.ts'
import type { RedisAddress } from '#store/redis/link/redis-url.ts'
import type { StoreLog } from '#store/store-log.ts'

export interface RedisStoreOptions {
  readonly address: RedisAddress
  readonly listRule: ListRule
  readonly logEntriesMax: number
  /** An existing directory that only this store uses. */
  readonly directory: string
  /** Opens tables in a directory, which need not exist yet. */
  readonly openTables: (directory: string) => Promise<Tables>
  readonly staleAfterMs: number
  /**
   * Time for which a node waits for other nodes before it begins a new organization in an empty Redis. 0
   * means that it does not wait.
   */
  readonly newStoreWaitMs: number
  /**
   * Maximum time for which decisions can use a local replica after it was last caught up. 0 means no limit.
   */
  readonly maxStaleMs: number
  /** Whether to accept a server that evicts keys when it is full. */
  readonly allowsEviction: boolean
  /**
   * If an environment has at most this number of rows, its secondary indexes are built before the first read.
   * In a larger environment, they are built later.
   */
  readonly listedAtOnceMax: number
  /** Whether loads of an index never look up rows of this kind by key. */
  readonly isKeyedLater: (key: Uint8Array) => boolean
  /** Whether a row can be decoded. */
  readonly isReadable: (row: Pick<Row, 'key' | 'value'>) => boolean
  /**
   * Makes writes to replicas that would block this thread for too long; null if this thread makes all writes.
   */
  readonly largeWrites: LargeWrites | null
  /**
   * Builds keys and secondary indexes of the replica in this directory in another thread; null if this thread
   * builds them.
   */
  readonly buildLists: ((directory: string, signal: AbortSignal) => Promise<void>) | null
  readonly log: StoreLog
  /** Called if Redis has lost a part of an environment. The environment must then make no decisions. */
  readonly onDamage: (environmentId: string, damage: AuthzError) => void
  /** Receives a defect or damage that prevents following an environment. */
  readonly onFault: (environmentId: string, error: Error) => void
  /** Called after all other parts of the store are closed. */
  readonly release: () => void
}
