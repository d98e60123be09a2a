/** A node whose local copy is damaged: what it holds is in Redis, so that no damage keeps the node from serving for long. */
import { closeSync, openSync, readdirSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedRedis } from '../../support/redis-server.ts'
import { FACTS, storeDirectory } from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { running, source, startedProcess } from '../../support/started-process.ts'

const redis = await sharedRedis()

function startNode(
  cwd: string,
  storeUrl: string,
  env: Readonly<Record<string, string>> = {},
): ServiceProcess {
  return startedProcess({ STORE_URL: storeUrl, ...env }, { cwd })
}

/** The directory of a node that has stopped, with the files of its copies, after it was sent some users. */
async function stoppedNode() {
  const [cwd, storeUrl] = [storeDirectory(), redis.url()]
  const node = startNode(cwd, storeUrl)
  for (const key of ['alice', 'bob']) await node.call('POST', `${FACTS}/users`, { key })
  expect(await node.end('SIGTERM')).toBe(0)
  const data = join(cwd, 'data')
  const copies = readdirSync(data).filter(name => name.includes('.copy-'))
  expect(copies).toHaveLength(2)
  return { cwd, storeUrl, files: copies.map(name => join(data, name, 'data.mdb')) }
}

/** Starts it as a supervisor does, until a start serves; how many did not. */
async function startsBeforeServing(
  cwd: string,
  storeUrl: string,
  env: Readonly<Record<string, string>> = {},
) {
  for (let failed = 0; ; failed += 1) {
    const node = startNode(cwd, storeUrl, env)
    const isServing = await node.address().then(
      () => true,
      () => false,
    )
    if (isServing) return { node, failed }
    // As many as may fail for one copy after the other: without an end it would not come to one.
    expect(failed).toBeLessThan(6)
  }
}

test.each([
  ['are none of lmdb any more', overwriteHead, /the local copy cannot be opened: loading another/],
  ['were cut', (file: string) => truncateSync(file, 8_192), /is cut short/],
])('serves everything at once though its files %s', async (_, damage, logged) => {
  const { cwd, storeUrl, files } = await stoppedNode()
  for (const file of files) damage(file)
  const { node, failed } = await startsBeforeServing(cwd, storeUrl)
  expect(failed).toBe(0)
  expect(await usersOf(node)).toEqual(['alice', 'bob'])
  await node.logMatch(logged)
})

test('ends up serving everything though whoever reads its files is ended by them', async () => {
  const { cwd, storeUrl } = await stoppedNode()
  const { node, failed } = await startsBeforeServing(cwd, storeUrl, endedBy('.copy-1'))
  expect(failed).toBeGreaterThan(0)
  expect(await usersOf(node)).toEqual(['alice', 'bob'])
  await node.logMatch(/no start gets through the local copy: loading another/)
})

test('goes on from its copy after any number of starts that got through it', async () => {
  const { cwd, storeUrl } = await stoppedNode()
  for (let start = 0; start < 4; start += 1) {
    const node = startNode(cwd, storeUrl)
    await node.address()
    await node.end('SIGKILL')
  }
  const names = readdirSync(join(cwd, 'data')).filter(name => name.includes('.copy-'))
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

/** What makes a process end as it does when it reads damaged pages of such a copy: by a signal, without a word. */
function endedBy(copy: string) {
  return running(`import { CopyDirectory } from '${source('store/redis/copy-directory.ts')}'
    const { noteStart } = CopyDirectory.prototype
    CopyDirectory.prototype.noteStart = function () {
      noteStart.call(this)
      if (this.newest().endsWith('${copy}')) process.kill(process.pid, 'SIGKILL')
    }`)
}
