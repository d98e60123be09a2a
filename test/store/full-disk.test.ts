/** A full disk, simulated by a limit on file sizes, which makes the same calls fail. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '#store/open-store.ts'
import { commitOf, everyone, scannedKeys, toyRule } from './toy-rows.ts'

const WRITER = join(import.meta.dirname, 'full-disk-writer.ts')
/** Blocks of 512 or 1,024 bytes, depending on the shell. */
const FILE_BLOCKS_MAX = 8_000

test('a store on a full disk refuses commits, closes, and continues when space is available again', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-full-'))
  const url = `lmdb:${directory}`
  try {
    const script = `ulimit -f ${FILE_BLOCKS_MAX}; exec "$0" "$@"`
    const argv = ['-c', script, process.execPath, '--disable-warning=ExperimentalWarning', WRITER, url]
    const output = execFileSync('sh', argv, { stdio: ['ignore', 'pipe', 'ignore'] })
    const { acknowledged, refusals } = JSON.parse(output.toString()) as {
      acknowledged: number
      refusals: string[]
    }
    expect(acknowledged).toBeGreaterThan(5)
    const refusal = expect.stringMatching(
      /^STORE_REFUSED: the change was not made: the disk of the data directory refuses writes \(.+\)/,
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
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('the lock file of a new store is fully allocated, so that a full disk cannot end the process later', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-lock-'))
  const store = await openStore(`lmdb:${directory}`, toyRule)
  await store.environment('default')
  const file = readdirSync(directory, { recursive: true, encoding: 'utf8' }).find(name =>
    name.endsWith('lock.mdb'),
  )
  const { size, blocks } = statSync(join(directory, file!))
  expect(size).toBeGreaterThan(60_000)
  expect(blocks * 512).toBeGreaterThanOrEqual(size)
  await store.close()
  rmSync(directory, { recursive: true })
})

test('a start without disk space for its files logs the reason', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-no-room-'))
  const script = 'ulimit -f 8; exec "$0" "$@"'
  const argv = ['-c', script, process.execPath, '--disable-warning=ExperimentalWarning', 'src/main.ts']
  const env = { ...process.env, STORE_URL: `lmdb:${directory}`, PORT: '0' }
  const { status, stderr } = spawnSync('sh', argv, { env, encoding: 'utf8' })
  const lines = stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { level: number; msg: string })
  const files = join(directory, 'organization')
  const msg = expect.stringContaining(`cannot start: the files in ${files} cannot be opened: `) as string
  expect([status, lines.at(-1)]).toMatchObject([1, { level: 60, msg }])
  rmSync(directory, { recursive: true })
})
