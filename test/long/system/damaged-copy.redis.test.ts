/** A node with a damaged local replica loads another replica from Redis and serves again. */
import { closeSync, openSync, readdirSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedRedis } from '../../support/processes/redis-server.ts'
import { FACTS, storeDirectory } from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { running, source, startedProcess } from '../../support/processes/started-process.ts'

const redis = await sharedRedis()

/** Stops a node with users. Returns the files of its replicas and a function that starts it again. */
async function stoppedNode() {
  const [cwd, STORE_URL] = [storeDirectory(), redis.url()]
  const start = (env: Readonly<Record<string, string>> = {}) => startedProcess({ STORE_URL, ...env }, { cwd })
  const node = start()
  for (const key of ['alice', 'bob']) await node.call('POST', `${FACTS}/users`, { key })
  expect(await node.end('SIGTERM')).toBe(0)
  const data = join(cwd, 'data')
  const copies = readdirSync(data).filter(name => name.includes('.copy-'))
  expect(copies).toHaveLength(2)
  return { data, start, files: copies.map(name => join(data, name, 'data.mdb')) }
}

/** Starts a node until it serves, like a supervisor. Returns the number of failed starts. */
async function startsBeforeServing(start: () => ServiceProcess) {
  for (let failed = 0; ; failed += 1) {
    const node = start()
    const isServing = await node.address().then(
      () => true,
      () => false,
    )
    if (isServing) return { node, failed }
    expect(failed).toBeLessThan(6)
  }
}

test.each([
  ['are overwritten', overwriteHead, /the local replica cannot be opened: loading another/],
  ['are cut', (file: string) => truncateSync(file, 8_192), /is truncated/],
])('a node whose replica files %s serves everything at the first start', async (_, damage, logged) => {
  const { start, files } = await stoppedNode()
  for (const file of files) damage(file)
  const { node, failed } = await startsBeforeServing(start)
  expect(failed).toBe(0)
  expect(await usersOf(node)).toEqual(['alice', 'bob'])
  await node.logMatch(logged)
})

test('a node that dies whenever it reads its replica replaces the replica after some starts', async () => {
  const { start } = await stoppedNode()
  const { node, failed } = await startsBeforeServing(() => start(endedBy('.copy-1')))
  expect(failed).toBeGreaterThan(0)
  expect(await usersOf(node)).toEqual(['alice', 'bob'])
  await node.logMatch(/repeated starts failed on the local replica: loading another/)
})

test('a node keeps a readable replica even if it is killed after each start', async () => {
  const { data, start } = await stoppedNode()
  for (let round = 0; round < 4; round += 1) {
    const node = start()
    await node.address()
    await node.end('SIGKILL')
  }
  const names = readdirSync(data).filter(name => name.includes('.copy-'))
  expect(names.every(name => name.endsWith('.copy-1'))).toBe(true)
})

async function usersOf(node: ServiceProcess): Promise<string[]> {
  const { data } = await node.call<{ data: { key: string }[] }>('GET', `${FACTS}/users`)
  return data.map(({ key }) => key).toSorted()
}

function overwriteHead(file: string): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(8_192, 0xab), 0, 8_192, 0)
  closeSync(descriptor)
}

/** Settings with which opening this replica ends the process by a signal, as damaged pages can. */
function endedBy(copy: string) {
  return running(`import { CopyDirectory } from '${source('store/redis/copy/copy-directory.ts')}'
    const { noteStart } = CopyDirectory.prototype
    CopyDirectory.prototype.noteStart = function () {
      noteStart.call(this)
      if (this.newest().endsWith('${copy}')) process.kill(process.pid, 'SIGKILL')
    }`)
}
