/** A node whose local copy is damaged: what it holds is in Redis, so that no damage keeps the node from serving for long. */
import { closeSync, openSync, readdirSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sharedRedis } from '../../support/redis-server.ts'
import { API_KEY, FACTS, storeDirectory } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

const redis = await sharedRedis()

function startNode(
  cwd: string,
  storeUrl: string,
  env: Readonly<Record<string, string>> = {},
): ServiceProcess {
  const node = new ServiceProcess({ cwd, env: { API_KEY, STORE_URL: storeUrl, HTTP_THREADS: '1', ...env } })
  onTestFinished(() => node.end('SIGKILL').then(() => undefined))
  return node
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

test('serves everything at once though its files are none of lmdb any more', async () => {
  const { cwd, storeUrl, files } = await stoppedNode()
  for (const file of files) overwriteHeads(file)
  const { node, failed } = await startsBeforeServing(cwd, storeUrl)
  expect(failed).toBe(0)
  expect(await usersOf(node)).toEqual(['alice', 'bob'])
  await node.logMatch(/the local copy cannot be opened: loading another/)
})

test('serves everything at once though its files were cut', async () => {
  const { cwd, storeUrl, files } = await stoppedNode()
  for (const file of files) truncateSync(file, 8_192)
  const { node, failed } = await startsBeforeServing(cwd, storeUrl)
  expect(failed).toBe(0)
  expect(await usersOf(node)).toEqual(['alice', 'bob'])
  await node.logMatch(/is cut short/)
})

test('ends up serving everything though whoever reads its files is ended by them', async () => {
  const { cwd, storeUrl } = await stoppedNode()
  const { node, failed } = await startsBeforeServing(cwd, storeUrl, { NODE_OPTIONS: endedBy('.copy-1') })
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

function overwriteHeads(file: string): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(8_192, 0xab), 0, 8_192, 0)
  closeSync(descriptor)
}

/** What makes a process end as it does when it reads damaged pages of such a copy: by a signal, without a word. */
function endedBy(copy: string): string {
  const { href } = new URL('../../../src/store/redis/copy-directory.ts', import.meta.url)
  const ended = `import { CopyDirectory } from '${href}'
    const { noteStart } = CopyDirectory.prototype
    CopyDirectory.prototype.noteStart = function () {
      noteStart.call(this)
      if (this.newest().endsWith('${copy}')) process.kill(process.pid, 'SIGKILL')
    }`
  return `--import=data:text/javascript,${encodeURIComponent(ended)}`
}
