/** A full disk, simulated by a limit on file sizes, which makes the same calls fail. */
import { execFileSync, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '#store/open/open-store.ts'
import { ownDirectory } from '../support/processes/temporary-directories.ts'
import { commitOf, everyone, scannedKeys, toyRule } from './toy-rows.ts'

const WRITER = join(import.meta.dirname, 'full-disk-writer.ts')
/** Maximum file size in blocks, which have 512 or 1,024 bytes depending on the shell. */
const FILE_BLOCKS_MAX = 8_000

test('a store on a full disk refuses commits, closes, and continues when space is available again', async () => {
  const url = `lmdb:${ownDirectory()}`
  const script = `ulimit -f ${FILE_BLOCKS_MAX}; exec "$0" "$@"`
  const argv = ['-c', script, process.execPath, '--disable-warning=ExperimentalWarning', WRITER, url]
  const output = execFileSync('sh', argv, { stdio: ['ignore', 'pipe', 'ignore'] })
  const { acknowledged, refusals } = JSON.parse(output.toString()) as {
    acknowledged: number
    refusals: string[]
  }
  expect(acknowledged).toBeGreaterThan(5)
  const refusal = expect.stringMatching(
    /^STORE_REFUSED: the change was not made: the disk of the data directory rejects writes \(.+\)/,
  ) as string
  expect(refusals).toEqual([refusal, refusal])

  const store = await openStore(url, toyRule)
  const { ledger, view } = await store.environment('default')
  expect(await ledger.head()).toMatchObject({ sequence: acknowledged })
  await ledger.commit(commitOf({ put: { next: 'ar' } }))
  const keys = Array.from({ length: acknowledged }, (_, index) => `row-${index}`)
  expect(scannedKeys(view, everyone)).toEqual([...keys, 'next'])
  expect(view.count(everyone)).toBe(acknowledged + 1)
  await store.close()
})

test('the lock file of a new store is fully allocated, so that a full disk cannot end the process later', async () => {
  const path = ownDirectory()
  const store = await openStore(`lmdb:${path}`, toyRule)
  await store.environment('default')
  const { size, blocks } = statSync(join(path, 'default', 'lock.mdb'))
  expect(size).toBeGreaterThan(60_000)
  expect(blocks * 512).toBeGreaterThanOrEqual(size)
  await store.close()
})

test('a start without disk space for its files logs the reason', async () => {
  const path = ownDirectory()
  const script = 'ulimit -f 8; exec "$0" "$@"'
  const argv = ['-c', script, process.execPath, '--disable-warning=ExperimentalWarning', 'src/main.ts']
  const env = { ...process.env, STORE_URL: `lmdb:${path}`, PORT: '0' }
  const { status, stderr } = spawnSync('sh', argv, { env, encoding: 'utf8' })
  const lines = stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { level: number; msg: string })
  const files = join(path, 'organization')
  const msg = expect.stringContaining(`cannot start: the files in ${files} cannot be opened: `) as string
  expect([status, lines.at(-1)]).toMatchObject([1, { level: 60, msg }])
})
