/**
 * Measures the size of a store after its service has closed: the size of each table on disk, or the size in
 * Redis. Supports the stores of this checkout and of other checkouts.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { connect } from '#store/redis/link/redis-client.ts'
import { RedisLink } from '#store/redis/link/redis-link.ts'

const DATA_FILE = 'data.mdb'
const INDEX_FILE = 'index.snapshot'

export interface StoredBytes {
  /** Size of all data. The index snapshot is not included, because it is not always kept. */
  readonly all: number
  /** Used part of the data. Table files also contain free pages. */
  readonly inUse: number
  /** Used part of the data, by table or Redis key. */
  readonly tables: Readonly<Record<string, number>>
}

/** Size of all environments below the directory. */
export async function bytesOnDisk(directory: string): Promise<StoredBytes> {
  const files = readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => ({ folder: parentPath, name }))
  const tables: Record<string, number> = {}
  let [all, inUse] = [0, 0]
  for (const { folder, name } of files) {
    if (name === INDEX_FILE) continue
    // The number of allocated blocks is used, because the files are sparse.
    const bytes = statSync(join(folder, name)).blocks * 512
    all += bytes
    if (name !== DATA_FILE) {
      inUse += bytes
      continue
    }
    for (const [table, tableBytes] of await tablesIn(folder)) {
      inUse += tableBytes
      tables[table] = (tables[table] ?? 0) + tableBytes
    }
  }
  return { all, inUse, tables }
}

/** Number of pages of each table. */
async function tablesIn(directory: string): Promise<Map<string, number>> {
  const root = open({ path: directory, noSubdir: false, readOnly: true, maxDbs: 16, keyEncoding: 'binary' })
  try {
    const bytes = new Map<string, number>()
    // In lmdb, the names end with a zero byte. All names are read before a table is opened, because opening a
    // table ends the transaction.
    const names = [...root.getKeys()].map(key =>
      Buffer.from(key as Uint8Array)
        .toString()
        .replace('\0', ''),
    )
    for (const name of names) {
      const stats = root.openDB({ name, encoding: 'binary', keyEncoding: 'binary' }).getStats() as Record<
        'pageSize' | 'treeBranchPageCount' | 'treeLeafPageCount' | 'overflowPages',
        number
      >
      const pages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages
      bytes.set(name, pages * stats.pageSize)
    }
    return bytes
  } finally {
    await root.close()
  }
}

/** Size of all environments whose keys begin with the prefix in the URL. */
export async function bytesInRedis(address: Parameters<typeof connect>[0] & { readonly prefix: string }) {
  const link = new RedisLink(connect(address, 'bench'))
  await link.recovered(10_000)
  try {
    const tables: Record<string, number> = {}
    let all = 0
    const keys = (await link.send('KEYS', `${address.prefix}:*`)) as readonly unknown[]
    for (const key of keys.map(String)) {
      const bytes = Number(await link.send('MEMORY', 'USAGE', key, 'SAMPLES', '0'))
      all += bytes
      const table = key.slice(key.lastIndexOf(':') + 1)
      tables[table] = (tables[table] ?? 0) + bytes
    }
    return { all, inUse: all, tables } satisfies StoredBytes
  } finally {
    link.close()
  }
}
