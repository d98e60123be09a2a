/** Requests for a row that cannot be decoded fail with 500 and are logged once with the reason. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KIND_BYTES } from '#store/keyspace/record-codec.ts'
import type { Row } from '#store/ledger.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { levelled } from '#testing/processes/level-tables.ts'
import { API_KEY, FACTS, storeDirectory } from '#testing/processes/running-service.ts'
import type { Problem } from '../../support/calls/refusals.ts'
import { damageRows } from '../../support/damaged-rows.ts'
import { startedProcess } from '../../support/processes/started-process.ts'

const EXPORT = '/v2/projects/default/envs/default/export'
/** Long enough that an export consists of several chunks. */
const LONG_TEXT = 'x'.repeat(10_000)
/** Id of the requests that wait for the damage. */
const PROBE = 'probe'
const USERS = Array.from({ length: 20 }, (_, index) => `user-${index}`)

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly requestId?: string
  readonly err: { readonly type: string; readonly stack: string }
}

/** A service with users, and functions that damage its rows. */
async function filledService() {
  const cwd = storeDirectory()
  const service = startedProcess({}, { cwd })
  const address = await service.address()
  for (const key of USERS) {
    await service.call('POST', `${FACTS}/users`, { key, attributes: { text: LONG_TEXT } })
  }
  const scope = await service.call<{ environment_id: string }>('GET', '/v2/api-key/scope')
  const ask = (path: string, requestId: string): Promise<Response> =>
    fetch(address + path, { headers: { authorization: `Bearer ${API_KEY}`, 'x-request-id': requestId } })
  return {
    address,
    ask,
    /** Stops the process. Returns its exit code and the errors that it logged. */
    ended: async () => {
      const code = await service.end('SIGTERM')
      const lines = service.stderr.trimEnd().split('\n')
      const errors = lines
        .map(line => JSON.parse(line) as LogLine)
        .filter(({ level, requestId }) => level >= 50 && requestId !== PROBE)
      return { code, errors }
    },
    /** Damages a row, and waits until the service has dropped its own copy of the row. */
    damage: async (kind: 'user' | 'tenant', key: string, damaged: (row: Row) => Row) => {
      await damageRows(join(cwd, 'data', scope.environment_id), levelled, row =>
        row.key[0] === KIND_BYTES[kind] && Buffer.from(row.value).includes(key) ? damaged(row) : null,
      )
      const path = kind === 'user' ? `${FACTS}/users/${key}` : EXPORT
      await expect.poll(async () => (await ask(path, PROBE)).status).toBe(500)
    },
  }
}

const cutInHalf = (row: Row): Row => ({ ...row, value: row.value.slice(0, row.value.length / 2) })

test('a request for a damaged row returns 500 without the reason, and the reason is logged once', async () => {
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

test('an export whose first row is damaged returns 500', async () => {
  const service = await filledService()
  await service.damage('user', USERS[0]!, cutInHalf)
  const answer = await service.ask(EXPORT, 'r-1')
  expect([answer.status, answer.headers.get('x-revision')]).toEqual([500, null])
  expect(await answer.json()).toMatchObject({ error_code: 'UNEXPECTED_ERROR' })
  const { errors } = await service.ended()
  expect(errors).toMatchObject([{ requestId: 'r-1', operation: 'exportContent' }])
  expect(errors[0]!.err.stack).toContain('storedForm')
})

test('an export whose last row is damaged is aborted, counted as failed, and logged once', async () => {
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

test('an export with a row that does not match its secondary index returns 500 and affects nothing else', async () => {
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
