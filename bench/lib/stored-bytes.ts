/** What a store of ours takes when its service is closed: on disk, table by table, or in Redis. Of this checkout or of another. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { connect } from '#store/redis/redis-client.ts'
import { RedisLink } from '#store/redis/redis-link.ts'

const DATA_FILE = 'data.mdb'
const INDEX_FILE = 'index.snapshot'

export interface StoredBytes {
  /** All that is kept, without the index, which is not kept in every case. */
  readonly all: number
  /** Of that, what holds something: files of tables have pages that are free again. */
  readonly inUse: number
  /** Of that, by table or key of Redis. */
  readonly tables: Readonly<Record<string, number>>
}

/** Of all environments below the directory. */
export async function bytesOnDisk(directory: string): Promise<StoredBytes> {
  const files = readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => ({ folder: parentPath, name }))
  const tables: Record<string, number> = {}
  let [all, inUse] = [0, 0]
  for (const { folder, name } of files) {
    if (name === INDEX_FILE) continue
    // Blocks: files have holes.
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

/** The pages of each table. */
async function tablesIn(directory: string): Promise<Map<string, number>> {
  const root = open({ path: directory, noSubdir: false, readOnly: true, maxDbs: 16, keyEncoding: 'binary' })
  try {
    const bytes = new Map<string, number>()
    // lmdb's names end with a zero. All of them first: a table that is opened ends the transaction they are read in.
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

/** Of all environments under the prefix of the URL. */
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
