/** Messages for callers and the operator if the disk is full or a directory belongs to another user. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { segmentPaths } from '#store/journal/replay.ts'
import { API_KEY, type Client, FACTS } from '#testing/processes/running-service.ts'
import { pause } from '#testing/processes/pause.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { clientOf, processWith, startedProcess } from '../../support/processes/started-process.ts'

const IS_ROOT = process.getuid?.() === 0
const NOBODY = 65_534
const START = new URL('../../../src/start.js', import.meta.url).pathname
/** Capacity for the service and several hundred changes. */
const DISK_BYTES = 6 * 1_024 * 1_024

/** Mounts a small file system for the current test. */
function smallDisk(): string {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', directory])
  onTestFinished(() => {
    execFileSync('umount', ['-l', directory])
    rmSync(directory, { recursive: true })
  })
  return directory
}

function startOn(disk: string): ServiceProcess {
  return startedProcess({ STORE_URL: `lmdb:${join(disk, 'data')}` })
}

/** A service in which alice may read a document. */
async function filledOn(disk: string) {
  const service = startOn(disk)
  const client = await clientOf(service)
  await client.createViewer('alice', 'document:plan')
  return { service, client }
}

/** Uses all free space with one file, and returns the path of that file. */
function fill(disk: string): string {
  const ballast = join(disk, 'ballast')
  expect(() => writeFileSync(ballast, Buffer.alloc(DISK_BYTES))).toThrow('ENOSPC')
  return ballast
}

function put(client: Client, index: number | string, text = 'x'.repeat(30_000)) {
  const key = `user-${index}`
  return client.put<{ message?: string }>(`${FACTS}/users/${key}`, { key, attributes: { text } })
}

// Only root can mount file systems.
test.skipIf(!IS_ROOT)(
  'on a full disk, changes fail with 503 and a reason, decisions continue, and changes succeed after cleanup',
  async () => {
    const disk = smallDisk()
    const { service, client } = await filledOn(disk)
    const ballast = fill(disk)
    let made = 0
    let refused = await put(client, made)
    for (; refused.status === 201; refused = await put(client, made)) made += 1
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    const reason = 'the change was not made: no space is left on the disk of the data directory'
    expect(refused.body.message).toContain(reason)
    const ready = await client.get<{ changes?: string }>('/ready')
    expect(ready.status).toBe(200)
    expect(ready.body.changes).toContain(reason)
    expect(await client.allows('alice', 'read', 'document:plan')).toBe(true)
    expect((await client.get(`${FACTS}/users/user-${made}`)).status).toBe(404)

    rmSync(ballast)
    expect((await put(client, made)).status).toBe(201)
    expect((await client.get<{ changes?: string }>('/ready')).body).toEqual({ status: 'ready' })
    expect(await service.end('SIGTERM')).toBe(0)
  },
)

test.skipIf(!IS_ROOT)(
  'a service that was killed on a full disk starts, decides, and rejects changes until space is free',
  async () => {
    const disk = smallDisk()
    const { service: killed, client: first } = await filledOn(disk)
    const data = join(disk, 'data')
    const [id] = readdirSync(data).filter(name => !/verdict|organization/.test(name))
    const files = segmentPaths(join(data, id!))
    // Both files of the journal exist, so they can take changes while the disk is full.
    for (let count = 0; !files.every(file => existsSync(file)); count += 1)
      await put(first, 'room', `${count}`).then(pause)
    const ballast = fill(disk)
    let made = 0
    while ((await put(first, made)).status === 201) made += 1
    expect(made).toBeGreaterThan(0)
    await killed.end('SIGKILL')

    const service = startOn(disk)
    const client = await clientOf(service)
    expect(await client.allows('alice', 'read', 'document:plan')).toBe(true)
    for (let index = 0; index < made; index += 1)
      expect((await client.get(`${FACTS}/users/user-${index}`)).status, `user-${index}`).toBe(200)
    // The start can free some space, because it writes to free pages of its files and removes the journal.
    let refused = await put(client, made)
    for (; refused.status === 201; refused = await put(client, made)) made += 1
    expect(refused.status).toBe(503)
    expect(refused.body.message).toContain('no space is left on the disk of the data directory')

    rmSync(ballast)
    while ((await put(client, made)).status === 503) await pause()
    expect((await client.get(`${FACTS}/users/user-${made}`)).status).toBe(200)
    expect(await service.end('SIGTERM')).toBe(0)
  },
)

describe('the message of a failed start', () => {
  /** Last log message of a start that fails. If the tests run as root, the service runs as another user. */
  async function failure(directory: string): Promise<string> {
    const asNobody = IS_ROOT
      ? (['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] as const)
      : []
    const command = [...asNobody, process.execPath, '--disable-warning=ExperimentalWarning', START]
    const env = { API_KEY, STORE_URL: `lmdb:${directory}` }
    const service = processWith(env, { cwd: tmpdir(), command: command as unknown as [string, ...string[]] })
    expect(await service.exited).toBe(1)
    return (JSON.parse(service.stderr.trim().split('\n').at(-1)!) as { msg: string }).msg
  }

  function directoryOfNobody(mode: number): string {
    const directory = mkdtempSync(join(tmpdir(), 'verdict-rights-'))
    onTestFinished(() => {
      chmodSync(directory, 0o700)
      rmSync(directory, { recursive: true })
    })
    if (IS_ROOT) chownSync(directory, NOBODY, NOBODY)
    chmodSync(directory, mode)
    return directory
  }

  const uid = IS_ROOT ? NOBODY : process.getuid?.()

  test('contains the lock of the data directory if that is not writable', async () => {
    const directory = directoryOfNobody(0o500)
    const message = await failure(directory)
    expect(message).toContain(`cannot start: the lock ${join(directory, 'verdict.lock')} cannot be taken`)
    expect(message).toContain(
      `Make the user of this process (uid ${uid}) the owner of the directory ${directory} and its files`,
    )
  })

  test('names the lock file if it belongs to another user', async () => {
    const directory = directoryOfNobody(0o700)
    const lock = join(directory, 'verdict.lock')
    writeFileSync(lock, '')
    chmodSync(lock, IS_ROOT ? 0o644 : 0o444)
    const message = await failure(directory)
    expect(message).toContain(`cannot start: the lock ${lock} cannot be taken`)
    expect(message).toContain(`(uid ${uid})`)
  })

  test('names the files of an environment if they belong to another user', async () => {
    const directory = directoryOfNobody(0o700)
    const files = join(directory, 'organization')
    mkdirSync(files, { mode: 0o500 })
    const message = await failure(directory)
    expect(message).toContain(`cannot start: the files in ${files} cannot be opened: `)
    expect(message).toContain(`make the user of this process (uid ${uid}) their owner`)
  })
})
