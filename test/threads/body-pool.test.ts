/** The thread that reads large bodies: its queue, its limits, and its requests when it ends. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { longBodiesBytesMax, SegmentedBytes, SegmentStock } from '#http/edge/body-segments.ts'
import { AuthzError } from '#model/errors.ts'
import { FairQueue } from '#scheduling/fair-queue.ts'
import type { BodyOutcome, BodyWork } from '#decisions/body-reading.ts'
import { BodyPool } from '#threads/pool/body-pool.ts'
import { withoutSecrets } from '../../src/config/settings.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { WORKER_URLS } from '../../src/composition/process/worker-urls.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { documentReaders } from '../support/documents/document-readers.ts'

const readers = documentReaders('one', 'other')

interface Options {
  readonly bodyBytesMax?: number
  readonly jobsMax?: number
  readonly bytesMax?: number
  readonly entry?: URL
  readonly index?: (environmentId: string) => never
}

function newPool(options: Options = {}): { pool: BodyPool; ended: number[]; failures: unknown[] } {
  const ended: number[] = []
  const failures: unknown[] = []
  const pool = new BodyPool({
    entry: WORKER_URLS.bodies,
    data: { settings: withoutSecrets(readConfig({})), tokenSecret: '00'.repeat(32), observes: 'nothing' },
    bodyBytesMax: 16 * 1_024 * 1_024,
    jobsMax: 10,
    bytesMax: 1_000_000,
    index: environmentId => readers.shareable(environmentId).index,
    observer: null,
    onIndexFault: () => {},
    onThreadEnd: id => ended.push(id),
    onStartFailure: error => failures.push(error),
    ...options,
  })
  onTestFinished(() => pool.close())
  return { pool, ended, failures }
}

const CHECK = { user: { key: 'alice' }, action: 'read', resource: { type: 'document', key: 'd' } }

class Leaver {
  isGone = false
  #listener = () => {}

  whenOver(listener: () => void): void {
    this.#listener = listener
  }

  leave(): void {
    this.isGone = true
    this.#listener()
  }
}

function work(environmentId: string, text = JSON.stringify([CHECK]), waiting = new Leaver()): BodyWork {
  const body = new SegmentedBytes(new SegmentStock(longBodiesBytesMax(1)), environmentId)
  body.append(Buffer.from(text))
  const ids = {
    level: 'admin',
    organizationId: 'o',
    projectId: 'p',
    projectKey: 'p',
    environmentKey: 'e',
  } as const
  const principal = { kind: 'environment', keyId: null, environmentId, ...ids } as const
  return {
    operationId: 'isAllowedBulk',
    principal,
    contentEncoding: undefined,
    client: { requestId: 'asked' },
    body: { bytes: Buffer.byteLength(text), segments: body.segments },
    waiting,
    identify: () => principal,
    isOnlyChecked: false,
  }
}

function textOf(outcome: BodyOutcome | null): string {
  return outcome?.kind === 'answered' ? Buffer.from(outcome.bytes).toString() : `${outcome?.kind}`
}

const ALLOWED = '{"allow":[{"allow":true,"result":true}]}'
const OVERLOADED = expect.objectContaining({ code: 'OVERLOADED' })

test('the body thread returns results, and reports errors in a body before a missing environment', async () => {
  const { pool } = newPool()
  expect(textOf(await pool.read(work('one')))).toBe(ALLOWED)
  expect(await pool.read({ ...work('one'), isOnlyChecked: true })).toEqual({ kind: 'checked' })
  await expect(pool.read(work('none', '{'))).rejects.toMatchObject({ code: 'MALFORMED_REQUEST' })
  await expect(pool.read(work('none'))).rejects.toMatchObject({ code: 'NOT_READY' })
})

test.each([
  [16 * 1_024 * 1_024, 768],
  [1_024, 512],
])(
  'the heap of the body thread depends on the maximum body size: %i bytes',
  async (bodyBytesMax, mebibytes) => {
    const { pool } = newPool({ bodyBytesMax })
    await pool.read(work('one'))
    expect(pool.threads[0]!.resourceLimits?.maxOldGenerationSizeMb).toBe(mebibytes)
  },
)

test('bodies are refused above the limits in number, in bytes and per environment', async () => {
  const few = newPool({ jobsMax: 2 }).pool
  const full = expect.objectContaining({ code: 'OVERLOADED', limit: 'pool' })
  const reading = [few.read(work('one'))]
  await expect(few.read(work('one'))).rejects.toEqual(full)
  reading.push(few.read(work('other')))
  await expect(few.read(work('third'))).rejects.toEqual(full)
  expect((await Promise.all(reading)).map(textOf)).toEqual([ALLOWED, ALLOWED])
  expect(textOf(await few.read(work('one')))).toBe(ALLOWED)

  const text = JSON.stringify([CHECK]).padEnd(100)
  const short = newPool({ bytesMax: 400 }).pool
  const ofOne = [short.read(work('one', text)), short.read(work('one', text))]
  await expect(short.read(work('one', text))).rejects.toEqual(OVERLOADED)
  const ofOther = [short.read(work('other', text)), short.read(work('other', text))]
  await expect(short.read(work('third', ' '))).rejects.toEqual(OVERLOADED)
  expect((await Promise.all([...ofOne, ...ofOther])).map(textOf)).toEqual(Array(4).fill(ALLOWED))
})

test('a body whose client has disconnected is not read, and its slot is released', async () => {
  const { pool } = newPool({ jobsMax: 4 })
  const gone = new Leaver()
  const left = [pool.read(work('one', undefined, gone)), pool.read(work('one', undefined, gone))]
  const outcomes = Promise.allSettled(left)
  gone.leave()
  await expect(pool.read(work('one'))).rejects.toEqual(OVERLOADED)
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(textOf(await pool.read(work('one')))).toBe(ALLOWED)
})

test('when the body thread ends, its bodies are refused for a retry, and the next thread reads waiting bodies', async () => {
  const { pool, ended } = newPool()
  await pool.read(work('one'))
  const [thread] = pool.threads
  // This body is so long that the thread is still reading it when it ends.
  const many = JSON.stringify(Array.from({ length: 9_000 }, () => CHECK))
  const reading = [work('one', many), work('one'), work('other')].map(one => pool.read(one))
  const settled = Promise.allSettled(reading)
  await thread!.terminate()
  const outcomes = await settled
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toEqual(OVERLOADED)
  }
  expect(ended).toEqual([thread!.threadId === -1 ? ended[0] : thread!.threadId])
  expect(textOf(await pool.read(work('one')))).toBe(ALLOWED)
  expect(pool.figures().jobs).toBe(0)
})

test('if no body thread can be started, the calling thread reads the body, and the reason is reported', async () => {
  const entry = join(storeDirectory(), 'entry.mjs')
  writeFileSync(entry, "throw new Error('not today')")
  const { pool, failures } = newPool({ entry: pathToFileURL(entry) })
  expect(await pool.read(work('one'))).toBeNull()
  expect(failures).toMatchObject([{ message: 'not today' }])
  // The pool does not try to start another thread immediately.
  expect(await pool.read(work('one'))).toBeNull()
  expect(failures.length).toBe(1)
})

test('a decision that becomes stale while a body is read is not returned', async () => {
  let asked = 0
  const index = (environmentId: string): never => {
    asked += 1
    if (asked > 1) throw new AuthzError('STALE', 'too old')
    return readers.shareable(environmentId).index as never
  }
  const { pool } = newPool({ index })
  await expect(pool.read(work('one'))).rejects.toMatchObject({ code: 'STALE' })
})

test('a fair queue alternates between environments, independent of the number of entries of each environment', () => {
  const queue = new FairQueue<{ readonly name: string }>()
  for (const name of ['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2']) queue.push(name[0]!, { name })
  const order: string[] = []
  const anyone = () => true
  for (let next = queue.take(anyone); next !== null; next = queue.take(anyone)) order.push(next.name)
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  expect(queue.isEmpty).toBe(true)
  for (const name of ['a1', 'a2', 'b1']) queue.push(name[0]!, { name })
  expect(queue.take(share => share !== 'a')).toEqual({ name: 'b1' })
  expect(queue.take(share => share !== 'a')).toBeNull()
  expect(queue.takeAll(({ name }) => name === 'a1')).toEqual([{ name: 'a1' }])
  expect(queue.take(anyone)).toEqual({ name: 'a2' })
})
