/** A store with a row that cannot be read: who comes upon it is told so, and the log names the request and the reason, once. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KIND_BYTES } from '#store/keyspace/record-codec.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { decodeRow, encodeRow } from '#store/keyspace/row-codec.ts'
import type { Row } from '#store/ledger.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { levelled } from '#testing/processes/level-tables.ts'
import { API_KEY, FACTS, type Problem, storeDirectory } from '#testing/processes/running-service.ts'
import { startedProcess } from '../../support/started-process.ts'

const EXPORT = '/v2/projects/default/envs/default/export'
/** More than an export has in one piece. */
const LONG_TEXT = 'x'.repeat(10_000)
const USERS = Array.from({ length: 20 }, (_, index) => `user-${index}`)

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly err: { readonly type: string; readonly stack: string }
}

/** A service with users, whose rows can be damaged as a disk may do it. */
async function filledService() {
  const cwd = storeDirectory()
  const service = startedProcess({}, { cwd })
  const address = await service.address()
  for (const key of USERS) {
    await service.call('POST', `${FACTS}/users`, { key, attributes: { text: LONG_TEXT } })
  }
  const scope = await service.call<{ environment_id: string }>('GET', '/v2/api-key/scope')
  return {
    address,
    ask: (path: string, requestId: string) =>
      fetch(address + path, {
        headers: { authorization: `Bearer ${API_KEY}`, 'x-request-id': requestId },
      }),
    /** How the process ends, and all errors it has logged by then. */
    ended: async () => {
      const code = await service.end('SIGTERM')
      const lines = service.stderr.trimEnd().split('\n')
      const errors = lines.map(line => JSON.parse(line) as LogLine).filter(({ level }) => level >= 50)
      return { code, errors }
    },
    /** Puts something else in place of the row of that kind with that key, where a disk can damage it: in the stored tables. */
    damage: async (kind: 'user' | 'tenant', key: string, damaged: (row: Row) => Row) => {
      const tables = new LmdbTables(join(cwd, 'data', scope.environment_id))
      await levelled(tables)
      const rows = tables.table('rows')
      await tables.write(() => {
        for (const { key: created, value } of rows.range({ start: Uint8Array.of(0) })) {
          const row = decodeRow(0, value)
          if (row.key[0] !== KIND_BYTES[kind] || !Buffer.from(row.value).includes(key)) continue
          rows.put(created, encodeRow(damaged(row)))
        }
      })
      await tables.close()
    },
  }
}

const cutInHalf = (row: Row): Row => ({ ...row, value: row.value.slice(0, row.value.length / 2) })

test('a request for it is answered 500 without the reason, and logged once, with its name, operation and reason', async () => {
  const service = await filledService()
  await service.damage('user', 'user-7', cutInHalf)
  const answer = await service.ask(`${FACTS}/users/user-7`, 'r-1')
  expect([answer.status, (await answer.json()) as Problem]).toEqual([
    500,
    expect.objectContaining({ message: 'the service failed to answer this request' }),
  ])
  expect((await service.ask(`${FACTS}/users/user-8`, 'r-2')).status).toBe(200)
  const { code, errors } = await service.ended()
  expect([code, errors]).toMatchObject([
    0,
    [{ msg: 'a management operation failed', requestId: 'r-1', operation: 'getUser' }],
  ])
  expect(errors[0]!.err.stack).toContain('decodeRecord')
})

test('an export that comes upon it at once is answered 500', async () => {
  const service = await filledService()
  await service.damage('user', USERS[0]!, cutInHalf)
  const answer = await service.ask(EXPORT, 'r-1')
  expect([answer.status, answer.headers.get('x-revision')]).toEqual([500, null])
  expect(await answer.json()).toMatchObject({ error_code: 'UNEXPECTED_ERROR' })
  const { errors } = await service.ended()
  expect(errors).toMatchObject([{ requestId: 'r-1', operation: 'exportContent' }])
  expect(errors[0]!.err.stack).toContain('storedForm')
})

test('an export that comes upon it later breaks off, is counted as failed, and logged once', async () => {
  const service = await filledService()
  await service.damage('user', USERS.at(-1)!, cutInHalf)
  const answer = await service.ask(EXPORT, 'r-1')
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow('terminated')
  const counted = (status: string) => ({ endpoint: 'exportContent', status })
  const scrape = await Scrape.of(service.address)
  expect(scrape.sum('verdict_http_requests_total', counted('500'))).toBe(1)
  expect(scrape.sum('verdict_http_requests_total', counted('200'))).toBe(0)
  const { errors } = await service.ended()
  expect(errors).toMatchObject([{ requestId: 'r-1', operation: 'exportContent' }])
})

test('an export that comes upon a row of another kind than its list says is answered 500, logged once, and ends nothing else', async () => {
  const service = await filledService()
  await service.damage('tenant', 'default', row => ({
    ...row,
    key: Uint8Array.of(KIND_BYTES.user, ...row.key.subarray(1)),
  }))
  expect((await service.ask(EXPORT, 'r-1')).status).toBe(500)
  expect((await service.ask(`${FACTS}/users/user-8`, 'r-2')).status).toBe(200)
  const { code, errors } = await service.ended()
  expect([code, errors]).toMatchObject([0, [{ requestId: 'r-1', operation: 'exportContent' }]])
  expect(errors[0]!.err.stack).toContain('InvariantError')
})
