/** Index snapshots of the last shutdown. A start uses a snapshot only if it matches the store. */
import { randomUUID } from 'node:crypto'
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { createLog } from '#telemetry/log.ts'
import { SavedIndexFiles } from '../../src/composition/process/saved-index-files.ts'
import {
  Client,
  FACTS,
  question,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { sharedDirectory } from '../support/processes/temporary-directories.ts'

const FILE = 'index.snapshot'
const prepared = sharedDirectory()

/** With this number of users, a shutdown writes a snapshot. */
const MANY_USERS = Array.from({ length: 10_000 }, (_, index) => ({ key: `user-${index}` }))

async function arrange(client: Client): Promise<void> {
  await client.createDocumentModel()
  await client.done('POST', `${FACTS}/bulk/users`, { operations: MANY_USERS })
  await client.users('alice', 'bob')
  await client.assign('alice', 'viewer', 'document:plan')
}

/** Path of the snapshot of the only environment in the directory. */
function fileIn(directory: string): string {
  const found = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith(FILE),
  )
  expect(found).toHaveLength(1)
  return join(directory, found[0]!)
}

/** Returns a mark that is different each time the snapshot is written. */
function writingOf(path: string): string {
  return /"mark":"([^"]+)"/.exec(readFileSync(path).toString('latin1', 0, 1_024))![1]!
}

/** Bytes of the snapshot with changed metadata and a correct checksum. */
function sayingOf(bytes: Buffer, about: (said: string) => string): Buffer {
  const [lengthAt, crcAt, aboutAt] = [8, 12, 16]
  const partsAt = aboutAt + bytes.readUInt32LE(lengthAt)
  const said = bytes.toString('utf8', aboutAt, partsAt)
  const json = Buffer.from(about(said))
  expect(json.toString()).not.toBe(said)
  const preamble = Buffer.from(bytes.subarray(0, aboutAt))
  preamble.writeUInt32LE(json.length, lengthAt)
  preamble.writeUInt32LE(crc32(json), crcAt)
  return Buffer.concat([preamble, json, bytes.subarray(partsAt)])
}

/** Copies a store with a snapshot for the current test. */
function preparedStore(): string {
  const directory = storeDirectory()
  cpSync(prepared, directory, { recursive: true })
  return directory
}

async function whoReads(client: Client): Promise<string[]> {
  const names = ['alice', 'bob', 'user-7']
  const answers = await client.allowsAll(names.map(name => question(name, 'read', 'document:plan')))
  return names.filter((_, index) => answers[index])
}

beforeAll(async () => {
  const client = await Client.start({ storeUrl: `lmdb:${prepared}` })
  await arrange(client)
  await client.close()
})

test('a start uses the index snapshot of the last shutdown, and changes apply as before', async () => {
  const directory = preparedStore()
  const kept = writingOf(fileIn(directory))
  const second = await startedService({ storeUrl: `lmdb:${directory}` })
  expect(writingOf(fileIn(directory))).toBe(kept)
  expect(await whoReads(second)).toEqual(['alice'])
  await second.assign('user-7', 'editor', 'document:plan')
  await second.tenantRole('reader', ['document:read'])
  await second.assign('bob', 'reader', 'default')
  expect(await whoReads(second)).toEqual(['alice', 'bob', 'user-7'])
  const third = await second.restart()
  expect(writingOf(fileIn(directory))).not.toBe(kept)
  expect(await whoReads(third)).toEqual(['alice', 'bob', 'user-7'])
})

test('changes that followed the snapshot are in force after a crash', async () => {
  const directory = preparedStore()
  const first = await startedService({ storeUrl: `lmdb:${directory}` })
  await first.delete(`${FACTS}/role_assignments`, {
    user: 'alice',
    role: 'viewer',
    resource_instance: 'document:plan',
    tenant: 'default',
  })
  await first.assign('bob', 'viewer', 'document:plan')
  // Copies the files as a killed process leaves them.
  const left = storeDirectory()
  cpSync(directory, left, { recursive: true })
  const kept = writingOf(fileIn(left))
  const second = await startedService({ storeUrl: `lmdb:${left}` })
  expect(writingOf(fileIn(left))).toBe(kept)
  expect(await whoReads(second)).toEqual(['bob'])
})

test('a snapshot is discarded if it is damaged at any position', async () => {
  const directory = preparedStore()
  let client = await startedService({ storeUrl: `lmdb:${directory}` })
  for (const damage of [
    (bytes: Buffer) => bytes.fill(0xff, 2, 3),
    (bytes: Buffer) => bytes.fill(bytes[100]! ^ 1, 100, 101),
    (bytes: Buffer) => bytes.fill(bytes[bytes.length >> 1]! ^ 1, bytes.length >> 1, (bytes.length >> 1) + 1),
    (bytes: Buffer) => bytes.subarray(0, -1),
  ]) {
    await client.close()
    const path = fileIn(directory)
    const damaged = writingOf(path)
    writeFileSync(path, damage(readFileSync(path)))
    client = await client.restart()
    expect(writingOf(fileIn(directory))).not.toBe(damaged)
    expect(await whoReads(client)).toEqual(['alice'])
  }
})

test.each([
  ['this build', 'is used', (said: string) => `${said} `],
  [
    'another build',
    'is discarded',
    (said: string) => said.replace(/("code":")(.)/, (_, name, digit) => name + (digit === '0' ? '1' : '0')),
  ],
])('a valid snapshot of %s %s', async (_, fate, about) => {
  const directory = preparedStore()
  const path = fileIn(directory)
  const kept = writingOf(path)
  writeFileSync(path, sayingOf(readFileSync(path), about))
  const client = await startedService({ storeUrl: `lmdb:${directory}` })
  expect(writingOf(fileIn(directory)) === kept ? 'is used' : 'is discarded').toBe(fate)
  expect(await whoReads(client)).toEqual(['alice'])
})

test('a snapshot of another epoch is discarded before it is loaded', async () => {
  const directory = preparedStore()
  const path = fileIn(directory)
  const [, epoch] = /"epoch":"([^"]+)"/.exec(readFileSync(path).toString('latin1', 0, 1_024))!
  const environmentId = basename(dirname(path))
  const store = await openStore(`lmdb:${directory}`, listRule)
  onTestFinished(() => store.close())
  const place = (await store.environment(environmentId)).snapshotPlace()!
  const files = new SavedIndexFiles(1, createLog('silent'))
  expect((await files.read(environmentId, place, epoch!))?.revision.epoch).toBe(epoch)
  expect(existsSync(path)).toBe(true)
  expect(await files.read(environmentId, place, randomUUID())).toBe(null)
  expect(existsSync(path)).toBe(false)
})

test('a snapshot is not used after the store is reset to an earlier state', async () => {
  const [directory, backup] = [preparedStore(), prepared]
  const second = await startedService({ storeUrl: `lmdb:${directory}` })
  await second.assign('bob', 'viewer', 'document:plan')
  await second.close()
  const path = fileIn(directory)
  // The store is restored without the snapshot, so the snapshot contains a later state than the store.
  const store = join(path, '..', 'data.mdb')
  copyFileSync(store.replace(directory, backup), store)
  rmSync(join(path, '..', 'lock.mdb'), { force: true })
  const third = await second.restart()
  expect(await whoReads(third)).toEqual(['alice'])
  await third.assign('user-7', 'viewer', 'document:plan')
  const fourth = await third.restart()
  expect(await whoReads(fourth)).toEqual(['alice', 'user-7'])
})
