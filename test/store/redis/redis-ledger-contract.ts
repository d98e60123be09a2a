/** The ledger contract on a Redis: for the ledger itself, and for an environment with a local replica. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryTables } from '#store/memory/memory-tables.ts'
import { openStore } from '#store/open/open-store.ts'
import { type RedisKeys, redisKeys } from '#store/redis/link/redis-keys.ts'
import { RedisLedger } from '#store/redis/ledger/redis-ledger.ts'
import type { RedisLink } from '#store/redis/link/redis-link.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { describeLedger } from '../contract.ts'
import type { LedgerUnderTest, OpenOptions } from '../ledger-under-test.ts'
import { toyRule } from '../toy-rows.ts'
import { sharedLink } from '../../support/processes/redis-server.ts'

const LOG_ENTRIES_MAX = 100_000
const exceptions = { onApplied: 'what Redis has acknowledged is as durable as it gets there' }

/** `newUrl` returns store URLs, each with its own prefix. */
export async function describeRedisLedger(name: string, newUrl: () => string): Promise<void> {
  const link = await sharedLink({ url: newUrl })
  const newKeys = () => redisKeys(parseRedisUrl(newUrl()).prefix, 'contract')
  const newDirectory = () => mkdtempSync(join(tmpdir(), 'verdict-copy-'))
  describeLedger(name, (options = {}) => openLedger(link, newKeys(), options), exceptions)
  describeLedger(
    `${name}, followed`,
    (options = {}) => openEnvironment(newUrl(), newDirectory(), options),
    exceptions,
  )
}

/** Opens a ledger with a view that applies the log of the ledger directly. */
async function openLedger(link: RedisLink, keys: RedisKeys, options: OpenOptions): Promise<LedgerUnderTest> {
  const { logEntriesMax = LOG_ENTRIES_MAX } = options
  const ledger = await RedisLedger.open({ link, keys, logEntriesMax, mayBegin: true })
  const tables = new MemoryTables()
  const view = new TableView(tables, toyRule)
  return {
    ledger,
    view: async () => {
      const head = await ledger.head()
      if (view.sequence() === head.sequence) return view
      for await (const entry of ledger.feed({ epoch: head.epoch, sequence: view.sequence() })) {
        await tables.write(() => view.apply(entry))
        if (entry.revision.sequence === head.sequence) break
      }
      return view
    },
    reopen: async () => {
      await ledger.close()
      return openLedger(link, keys, options)
    },
    dispose: () => ledger.close(),
  }
}

/** Opens an environment as services do, with a local replica. */
async function openEnvironment(
  url: string,
  directory: string,
  options: OpenOptions,
): Promise<LedgerUnderTest> {
  const store = await openStore(url, toyRule, { dataDirectory: directory, ...options })
  const { ledger, view } = await store.environment('contract')
  return {
    ledger,
    view: async () => view,
    reopen: async () => {
      await store.close()
      return openEnvironment(url, directory, options)
    },
    dispose: async () => {
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
