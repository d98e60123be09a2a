/** The Redis adapter against the ledger's contract: the ledger itself, and the environment that follows it in a local copy. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { MemoryTables } from '#store/memory/memory-tables.ts'
import { openStore } from '#store/open-store.ts'
import { connect } from '#store/redis/redis-client.ts'
import { redisKeys } from '#store/redis/redis-keys.ts'
import { RedisLedger } from '#store/redis/redis-ledger.ts'
import { RedisLink } from '#store/redis/redis-link.ts'
import { parseRedisUrl } from '#store/redis/redis-url.ts'
import { TableView } from '#store/table-view.ts'
import { sharedRedis } from '../support/redis-server.ts'
import { describeLedger } from './contract.ts'
import type { LedgerUnderTest, OpenOptions } from './ledger-under-test.ts'
import { toyRule } from './toy-rows.ts'

const redis = await sharedRedis()
const LOG_ENTRIES_MAX = 100_000
const link = new RedisLink(connect(parseRedisUrl(redis.url()), 'test'))
await link.recovered(10_000)
afterAll(() => link.close())

let opened = 0

/** The ledger with a view that is fed from its log, the plain way. */
async function openLedger(options: OpenOptions = {}): Promise<LedgerUnderTest> {
  opened += 1
  return openAt(redisKeys(parseRedisUrl(redis.url()).prefix, `environment-${opened}`), options)
}

async function openAt(keys: ReturnType<typeof redisKeys>, options: OpenOptions): Promise<LedgerUnderTest> {
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
      return openAt(keys, options)
    },
    dispose: () => ledger.close(),
  }
}

/** The environment as services get it. */
async function openEnvironment(options: OpenOptions = {}): Promise<LedgerUnderTest> {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-copy-'))
  return openIn(redis.url(), directory, options)
}

async function openIn(url: string, directory: string, options: OpenOptions): Promise<LedgerUnderTest> {
  const store = await openStore(url, toyRule, { dataDirectory: directory, ...options })
  const { ledger, view } = await store.environment('contract')
  return {
    ledger,
    view: async () => view,
    reopen: async () => {
      await store.close()
      return openIn(url, directory, options)
    },
    dispose: async () => {
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const exceptions = { onApplied: 'what Redis has acknowledged is as durable as it gets there' }
describeLedger('redis', openLedger, exceptions)
describeLedger('redis, followed', openEnvironment, exceptions)
