/** Imports keep the audit log of the environment in every kind of store. */
import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import {
  API_KEY,
  type Client,
  type Envelope,
  FACTS,
  revisionOf,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { content, importInto } from '../../../support/content.ts'
import { startedNodes } from '../../../support/nodes.ts'
import { sharedRedis } from '../../../support/processes/redis-server.ts'

const redis = await sharedRedis()

describe.each(['memory:', 'lmdb:', 'redis:'])('imports into %s', store => {
  const started = async (): Promise<Client> => {
    if (store === 'redis:') return (await startedNodes(redis, 1))[0]!
    return startedService({ storeUrl: store === 'memory:' ? store : `lmdb:${storeDirectory()}` })
  }
  const wholeLog = async (verdict: Client): Promise<AuditEntry[]> => {
    const log: AuditEntry[] = []
    for (let page = 1; ; page += 1) {
      const path = `/v2/audit-log/default/default?per_page=100&order=oldest&page=${page}`
      const { data } = (await verdict.get<Envelope<AuditEntry>>(path)).body
      log.push(...data)
      if (data.length < 100) return log
    }
  }
  const replaced = (verdict: Client) =>
    importInto(verdict, 'default', content(), API_KEY, 200, '?replace=true')

  test('keep the audit log, and each entry keeps its commit', async () => {
    const verdict = await started()
    // More entries than an import copies in one batch, in either of its two passes.
    const users = Array.from({ length: 450 }, (_, index) => `user-${index}`)
    await Promise.all(users.map(user => verdict.user(user)))
    await verdict.send('POST', `${FACTS}/users`, { body: { key: 'last' }, headers: { 'x-actor': 'ann' } })
    const before = await wholeLog(verdict)
    expect(before.at(-1)!.actor).toMatchObject({ name: 'ann' })
    expect(before.length).toBeGreaterThanOrEqual(users.length)
    await replaced(verdict)
    expect(await wholeLog(verdict)).toEqual(before)
    const after = await verdict.send('POST', `${FACTS}/users`, { body: { key: 'after' } })
    const sequence = Number(revisionOf(after).split('.')[1])
    const added = await wholeLog(verdict)
    expect(added.slice(0, -1)).toEqual(before)
    expect(added.at(-1)).toMatchObject({ operation: 'createUser', sequence })
    await replaced(verdict)
    expect(await wholeLog(verdict)).toEqual(added)
  })

  test('keep the entry of every acknowledged change that was made during the import', async () => {
    const verdict = await started()
    const over = new AbortController()
    const answered: string[] = []
    const write = async (): Promise<void> => {
      for (let index = 0; !over.signal.aborted; index += 1) {
        const requestId = `meanwhile-${index}`
        const headers = { 'x-request-id': requestId }
        const body = { key: requestId }
        const { status } = await verdict.send('POST', `${FACTS}/users`, { headers, body })
        if (status === 200) answered.push(requestId)
        else expect(status).toBe(503)
      }
    }
    const writing = write()
    try {
      // Continues until some changes are acknowledged, even on a busy machine.
      for (let round = 0; round < 3 || answered.length <= 3; round += 1) await replaced(verdict)
    } finally {
      over.abort()
      await writing
    }
    const logged = (await wholeLog(verdict)).map(entry => entry.request_id)
    expect(logged.filter(id => id.startsWith('meanwhile-'))).toEqual(answered)
  })
})
