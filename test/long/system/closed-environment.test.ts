/**
 * An environment that this process cannot decide on is closed, and told so. The others decide, the service starts, and what is in
 * it can be exported, mended, replaced and deleted; it opens again by itself.
 */
import { rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { KIND_BYTES } from '#store/keyspace/record-codec.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { decodeRow, encodeRow } from '#store/keyspace/row-codec.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { replayJournal } from '#testing/processes/store-look.ts'
import { startedProcess } from '../../support/started-process.ts'
import { brokenAt, KEYS, ThreeEnvironments, withoutRoomFor } from './three-environments.ts'

const REASON = /closed on this node: the index holds no more users/
let cwd: string

beforeEach(() => {
  cwd = storeDirectory()
})

async function start(env: Readonly<Record<string, string>> = {}) {
  const service = startedProcess({ ...KEYS, HTTP_THREADS: '2', ...env }, { cwd })
  return { service, environments: await ThreeEnvironments.of(service) }
}

const startNarrow = () => start(withoutRoomFor('too many'))

/** Damages a row of that environment as a disk may do it, while no process has it open. */
async function damageUser(environmentId: string): Promise<void> {
  const tables = new LmdbTables(join(cwd, 'data', environmentId))
  // What a killed process had in its journal alone would take the place of what is damaged.
  await replayJournal(tables)
  const rows = tables.table('rows')
  await tables.write(() => {
    for (const { key: created, value } of rows.range({ start: Uint8Array.of(0) })) {
      const row = decodeRow(0, value)
      if (row.key[0] === KIND_BYTES.user)
        rows.put(created, encodeRow({ ...row, value: row.value.slice(0, 3) }))
    }
  })
  await tables.close()
}

test('a commit that the index of one environment cannot take closes that one; it opens again when that is taken away', async () => {
  const { service, environments } = await startNarrow()
  const stop = environments.keepAsking('default', 'third')
  // What is durable is answered so: nobody decides on a state without it.
  expect((await environments.addUser('second', 'too many')).status).toBe(200)
  const refused = await environments.decision('second')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(refused.body.message).toMatch(REASON)
  expect(await environments.isReady()).toBe(true)
  expect(await environments.closedByMetrics()).toEqual(['second'])
  expect((await environments.told('second')).closed?.reason).toBe('the index holds no more users')
  expect((await environments.told('third')).closed).toBeUndefined()
  const exported = await environments.exported('second')
  expect([exported.status, exported.body.includes('"too many"')]).toEqual([200, true])

  expect((await environments.addUser('second', 'bob')).status).toBe(200)
  expect((await environments.decision('second')).status).toBe(503)
  expect((await environments.removeUser('second', 'too many')).status).toBe(204)
  await environments.whenOpen('second')
  expect((await environments.told('second')).closed).toBeUndefined()
  expect(await environments.closedByMetrics()).toEqual([])
  expect(await environments.decisions()).toEqual([true, true, true])
  const { asked, refused: refusedElsewhere } = await stop()
  expect([asked > 0, refusedElsewhere]).toEqual([true, []])
  expect(await environments.end('SIGTERM')).toBe(0)
  expect(service.stderr.match(/an environment is closed/g)).toHaveLength(1)
  expect(service.stderr.match(/is open again/g)).toHaveLength(1)
})

test('it keeps no start from serving the others, after a kill either, and opens when another release can take it', async () => {
  const { environments: first } = await startNarrow()
  await first.addUser('second', 'too many')
  await first.end('SIGKILL')
  const { environments: again } = await startNarrow()
  expect(await again.decisions()).toEqual([true, 503, true])
  expect((await again.decision('second')).body.message).toMatch(REASON)
  expect(await again.isReady()).toBe(true)
  await again.end('SIGKILL')
  const { environments: other } = await start()
  expect(await other.decisions()).toEqual([true, true, true])
})

test.each([
  ['an HTTP thread', (environments: ThreeEnvironments) => environments.decision('second', 'trap')],
  ['a thread of the pool', (environments: ThreeEnvironments) => environments.bulk('second', 'trap')],
])(
  'an invariant that %s finds broken in an index ends that index; another is made of the rows',
  async (_, ask) => {
    const { service, environments } = await start({ ...brokenAt('trap'), POOL_THREADS: '1' })
    const stop = environments.keepAsking('default', 'third')
    expect([500, 503]).toContain((await ask(environments)).status)
    await service.logMatch(/an environment is closed/)
    await service.logMatch(/is open again/)
    expect(await environments.decisions()).toEqual([true, true, true])
    expect((await stop()).refused).toEqual([])
    expect(await environments.end('SIGTERM')).toBe(0)
    expect(service.stderr).toContain('InvariantError: on purpose')
  },
)

test('an environment with a damaged row is closed at the start, and replaced by an import', async () => {
  const { environments: first } = await start()
  const { id } = await first.told('second')
  const exported = (await first.exported('second')).body
  await first.end('SIGTERM')
  await damageUser(id)
  const { environments } = await start()
  expect(await environments.decisions()).toEqual([true, 503, true])
  // What is wrong with it is the operator's business.
  expect((await environments.told('second')).closed?.reason).toMatch(/the log has the reason/)
  expect(await environments.imported('second', exported)).toBe(200)
  expect(await environments.decisions()).toEqual([true, true, true])
})

test('an environment with a damaged row can be deleted, and made again by its key', async () => {
  const { environments: first } = await start()
  const { id } = await first.told('second')
  await first.end('SIGKILL')
  await damageUser(id)
  const { service, environments } = await start()
  expect(await environments.decisions()).toEqual([true, 503, true])
  await environments.remove('second')
  const anew = await ThreeEnvironments.of(service)
  expect(await anew.decisions()).toEqual([true, true, true])
})

test('an import that the index cannot take leaves what was there before', async () => {
  const { environments } = await startNarrow()
  const exported = (await environments.exported('second')).body
  const tooMuch = exported.replaceAll('"alice"', '"too many alice"')
  expect(await environments.imported('second', tooMuch)).toBe(400)
  expect(await environments.decisions()).toEqual([true, true, true])
  await environments.end('SIGKILL')
  expect(await (await startNarrow()).environments.decisions()).toEqual([true, true, true])
})

type Loss = (directory: string) => void
const emptyFile: Loss = directory => truncateSync(join(directory, 'data.mdb'), 0)
const noFile: Loss = directory => rmSync(join(directory, 'data.mdb'))
const noDirectory: Loss = directory => rmSync(directory, { recursive: true })
const cutTo =
  (share: number): Loss =>
  directory => {
    const file = join(directory, 'data.mdb')
    truncateSync(file, Math.floor(statSync(file).size * share))
  }
const CUT = [/cannot be opened; the log has the reason/, 'is cut short'] as const
const LOST = [/has lost .* has to be restored/, 'is missing or empty'] as const

test.each([
  ['files were cut after a kill', 'SIGKILL', cutTo(0.75), cutTo(0.25), CUT],
  ['files are empty or missing', 'SIGTERM', emptyFile, noFile, LOST],
  ['directories are missing', 'SIGTERM', noDirectory, noDirectory, LOST],
] as const)(
  'environments whose %s are closed, not begun anew, and can be replaced or deleted',
  async (_, signal, loseSecond, loseThird, [reason, logged]) => {
    const { environments: first } = await start()
    const ids = { second: (await first.told('second')).id, third: (await first.told('third')).id }
    const exported = (await first.exported('second')).body
    await first.end(signal)
    loseSecond(join(cwd, 'data', ids.second))
    loseThird(join(cwd, 'data', ids.third))
    const { service, environments } = await start()
    expect(await environments.decisions()).toEqual([true, 503, 503])
    expect(await environments.isReady()).toBe(true)
    expect(await environments.closedByMetrics()).toEqual(['second', 'third'])
    for (const key of ['second', 'third'] as const) {
      expect((await environments.told(key)).closed?.reason).toMatch(reason)
      expect(service.stderr).toContain(`${join(cwd, 'data', ids[key], 'data.mdb')} ${logged}`)
    }
    // There are no rows to work on.
    expect((await environments.addUser('second', 'bob')).status).toBe(503)
    expect((await environments.exported('second')).status).toBe(503)
    expect(await environments.imported('second', exported)).toBe(200)
    await environments.remove('third')
    expect(await (await ThreeEnvironments.of(service)).decisions()).toEqual([true, true, true])
  },
)

test('an organization whose directory is missing is not begun anew beside the environments that are there', async () => {
  const { environments } = await start()
  expect(await environments.end('SIGTERM')).toBe(0)
  noDirectory(join(cwd, 'data', 'organization'))
  const service = startedProcess(KEYS, { cwd })
  expect(await service.exited).toBe(1)
  expect(service.stderr).toContain(`${join(cwd, 'data', 'organization', 'data.mdb')} is missing or empty`)
})

test('an organization whose file was cut keeps the service from starting, with one line that names it', async () => {
  const { environments } = await start()
  await environments.end('SIGKILL')
  cutTo(0.5)(join(cwd, 'data', 'organization'))
  const service = startedProcess(KEYS, { cwd })
  expect(await service.exited).toBe(1)
  expect(service.stderr.trim().split('\n')).toHaveLength(1)
  expect(service.stderr).toContain(`${join(cwd, 'data', 'organization', 'data.mdb')} is cut short`)
})
