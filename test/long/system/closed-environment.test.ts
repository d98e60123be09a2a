/**
 * An environment on which the process cannot decide is closed and reported, and the other environments
 * decide. A closed environment can be exported, repaired, replaced and deleted. It reopens automatically.
 */
import { rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { KIND_BYTES } from '#store/keyspace/record-codec.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { replayJournal } from '#testing/processes/store-look.ts'
import { damageRows } from '../../support/damaged-rows.ts'
import { startedProcess } from '../../support/processes/started-process.ts'
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

/** Damages the rows of users while no process has the environment open. */
function damageUsers(environmentId: string): Promise<void> {
  return damageRows(join(cwd, 'data', environmentId), replayJournal, row =>
    row.key[0] === KIND_BYTES.user ? { ...row, value: row.value.slice(0, 3) } : null,
  )
}

test('an environment is closed while its index cannot apply a commit, and reopens after a repair', async () => {
  const { service, environments } = await startNarrow()
  const stop = environments.keepAsking('default', 'third')
  // The commit is durable, so it succeeds. No thread decides without it.
  expect((await environments.addUser('second', 'too many')).status).toBe(200)
  const refused = await environments.decision('second')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(refused.body.message).toMatch(REASON)
  expect(await environments.isReady()).toBe(true)
  expect(await environments.closedByMetrics()).toEqual(['second'])
  expect((await environments.environment('second')).closed?.reason).toBe('the index holds no more users')
  expect((await environments.environment('third')).closed).toBeUndefined()
  const exported = await environments.exported('second')
  expect([exported.status, exported.body.includes('"too many"')]).toEqual([200, true])

  expect((await environments.addUser('second', 'bob')).status).toBe(200)
  expect((await environments.decision('second')).status).toBe(503)
  expect((await environments.removeUser('second', 'too many')).status).toBe(204)
  await environments.whenOpen('second')
  expect((await environments.environment('second')).closed).toBeUndefined()
  expect(await environments.closedByMetrics()).toEqual([])
  expect(await environments.decisions()).toEqual([true, true, true])
  const { asked, refused: refusedElsewhere } = await stop()
  expect([asked > 0, refusedElsewhere]).toEqual([true, []])
  expect(await environments.end('SIGTERM')).toBe(0)
  expect(service.stderr.match(/an environment is closed/g)).toHaveLength(1)
  expect(service.stderr.match(/is open again/g)).toHaveLength(1)
})

test('a closed environment does not prevent the start, and opens on a release that can apply its commits', async () => {
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
  ['a pool thread', (environments: ThreeEnvironments) => environments.bulk('second', 'trap')],
])('an index in which %s finds a broken invariant is rebuilt from the rows', async (_, ask) => {
  const { service, environments } = await start({ ...brokenAt('trap'), POOL_THREADS: '1' })
  const stop = environments.keepAsking('default', 'third')
  expect([500, 503]).toContain((await ask(environments)).status)
  await service.logMatch(/an environment is closed/)
  await service.logMatch(/is open again/)
  expect(await environments.decisions()).toEqual([true, true, true])
  expect((await stop()).refused).toEqual([])
  expect(await environments.end('SIGTERM')).toBe(0)
  expect(service.stderr).toContain('InvariantError: on purpose')
})

test('an environment with damaged rows is closed at the start and can be replaced by an import', async () => {
  const { environments: first } = await start()
  const { id } = await first.environment('second')
  const exported = (await first.exported('second')).body
  await first.end('SIGTERM')
  await damageUsers(id)
  const { environments } = await start()
  expect(await environments.decisions()).toEqual([true, 503, true])
  // Only the log contains details for the operator.
  expect((await environments.environment('second')).closed?.reason).toMatch(/the log contains the reason/)
  expect(await environments.imported('second', exported)).toBe(200)
  expect(await environments.decisions()).toEqual([true, true, true])
})

test('an environment with damaged rows can be deleted and created again with the same key', async () => {
  const { environments: first } = await start()
  const { id } = await first.environment('second')
  await first.end('SIGKILL')
  await damageUsers(id)
  const { service, environments } = await start()
  expect(await environments.decisions()).toEqual([true, 503, true])
  await environments.remove('second')
  expect(await (await ThreeEnvironments.of(service)).decisions()).toEqual([true, true, true])
})

test('an import that the index cannot apply is rejected, and the environment remains unchanged', async () => {
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
const CUT = [/cannot be opened; the log contains the reason/, 'is truncated'] as const
const LOST = [/lost .* must be restored/, 'is missing or empty'] as const

test.each([
  ['files were cut after a kill', 'SIGKILL', cutTo(0.75), cutTo(0.25), CUT],
  ['files are empty or missing', 'SIGTERM', emptyFile, noFile, LOST],
  ['directories are missing', 'SIGTERM', noDirectory, noDirectory, LOST],
] as const)(
  'environments whose %s are closed instead of being created as empty, and can be replaced or deleted',
  async (_, signal, loseSecond, loseThird, [reason, logged]) => {
    const { environments: first } = await start()
    const ids = {
      second: (await first.environment('second')).id,
      third: (await first.environment('third')).id,
    }
    const exported = (await first.exported('second')).body
    await first.end(signal)
    loseSecond(join(cwd, 'data', ids.second))
    loseThird(join(cwd, 'data', ids.third))
    const { service, environments } = await start()
    expect(await environments.decisions()).toEqual([true, 503, 503])
    expect(await environments.isReady()).toBe(true)
    expect(await environments.closedByMetrics()).toEqual(['second', 'third'])
    for (const key of ['second', 'third'] as const) {
      expect((await environments.environment(key)).closed?.reason).toMatch(reason)
      expect(service.stderr).toContain(`${join(cwd, 'data', ids[key], 'data.mdb')} ${logged}`)
    }
    expect((await environments.addUser('second', 'bob')).status).toBe(503)
    expect((await environments.exported('second')).status).toBe(503)
    expect(await environments.imported('second', exported)).toBe(200)
    await environments.remove('third')
    expect(await (await ThreeEnvironments.of(service)).decisions()).toEqual([true, true, true])
  },
)

test.each([
  ['directory of the organization is missing', 'SIGTERM', 0, noDirectory, 'is missing or empty'],
  ['file of the organization was cut', 'SIGKILL', null, cutTo(0.5), 'is truncated'],
] as const)('the service does not start if the %s', async (_, signal, code, lose, reason) => {
  const { environments } = await start()
  expect(await environments.end(signal)).toBe(code)
  lose(join(cwd, 'data', 'organization'))
  const service = startedProcess(KEYS, { cwd })
  expect(await service.exited).toBe(1)
  expect(service.stderr.trim().split('\n')).toHaveLength(1)
  expect(service.stderr).toContain(`${join(cwd, 'data', 'organization', 'data.mdb')} ${reason}`)
})
