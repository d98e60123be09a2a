/** Backups of an embedded store while it is in use, and restored stores. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  FACTS,
  question,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { member, organizationOfPeople, sessionOf } from '../service/members/people.ts'
import { verdictCommand } from '../cli/command-line.ts'

const ENVS = '/v2/projects/default/envs'

function backUp(service: Client, file: string) {
  return verdictCommand(['backup', file], { env: { VERDICT_URL: service.address, VERDICT_KEY: ADMIN_KEY } })
}

async function filled(directory: string): Promise<Client> {
  const service = await startedService({ storeUrl: `lmdb:${directory}` })
  await service.createViewer('alice', 'document:plan')
  return service
}

test('a backup contains keys, projects and environments, and a service works with the restored store', async () => {
  const directory = storeDirectory()
  const service = await filled(join(directory, 'store'))
  await service.done('POST', ENVS, { key: 'staging', name: 'Staging' }, ADMIN_KEY)
  const { body: key } = await service.send<{ secret: string }>('POST', '/v2/api-key', {
    key: ADMIN_KEY,
    body: { project_id: 'default', environment_id: 'staging' },
  })
  await service.send('POST', '/v2/facts/default/staging/users', { key: key.secret, body: { key: 'zoe' } })
  const file = join(directory, 'verdict.backup')
  // A previous backup attempt has left a file that all users can read.
  writeFileSync(`${file}.part`, '', { mode: 0o666 })
  const backup = await backUp(service, file)
  expect(backup).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(backup.stdout)).toMatchObject({ file, environments: 2 })
  // Only its owner can read the backup, and no temporary files are left in the store.
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  expect(readdirSync(join(directory, 'store')).filter(name => name.startsWith('.verdict-backup-'))).toEqual(
    [],
  )
  // Later changes are not in the backup.
  await service.user('late')
  await service.close()

  const restored = join(directory, 'restored')
  const restore = await verdictCommand(['restore', file, restored])
  expect(restore).toMatchObject({ code: 0, stderr: '' })
  const next = await startedService({ storeUrl: `lmdb:${restored}` })
  const decided = await next.post('/allowed', question('alice', 'read', 'document:plan'))
  expect(decided.body).toMatchObject({ allow: true })
  const staged = await next.send('GET', '/v2/facts/default/staging/users', { key: key.secret })
  expect(staged.body).toMatchObject({ data: [{ key: 'zoe' }] })
  expect((await next.get(`${FACTS}/users/late`)).status).toBe(404)
  await next.user('later')
  expect((await next.get(`${FACTS}/users/later`)).status).toBe(200)
})

test('a restored store has the members and the keys, and no sessions', async () => {
  const directory = storeDirectory()
  const stored = `lmdb:${join(directory, 'store')}`
  const { put, store } = await organizationOfPeople(stored)
  await put(member, sessionOf(member.id))
  await store.close()
  const service = await startedService({ storeUrl: stored })
  const file = join(directory, 'verdict.backup')
  expect((await backUp(service, file)).code).toBe(0)
  const restored = join(directory, 'restored')
  expect((await verdictCommand(['restore', file, restored])).code).toBe(0)
  await service.close()
  for (const [url, count] of [
    [stored, 1],
    [`lmdb:${restored}`, 0],
    [`lmdb:${restored}`, 0],
  ] as const) {
    const next = await startedService({ storeUrl: url })
    expect((await next.get('/v2/api-key/scope')).status).toBe(200)
    await next.close()
    const after = await organizationOfPeople(url)
    expect([after.members(), after.sessions().length]).toEqual([[member], count])
    await after.store.close()
  }
})

test('a backup during writes has one state for each environment, and decisions continue', async () => {
  const directory = storeDirectory()
  const service = await filled(join(directory, 'store'))
  const progress = { isOver: false, written: 0, asked: 0 }
  const write = async () => {
    // Each change creates two users: a backup must contain both or neither.
    while (!progress.isOver) {
      const operations = ['a', 'b'].map(name => ({ key: `${name}-${progress.written}` }))
      expect((await service.post(`${FACTS}/bulk/users`, { operations })).status).toBe(200)
      progress.written += 1
    }
  }
  const ask = async () => {
    while (!progress.isOver) {
      const answer = await service.post('/allowed', question('alice', 'read', 'document:plan'))
      expect(answer.body).toMatchObject({ allow: true })
      progress.asked += 1
    }
  }
  const busy = Promise.all([write(), ask()])
  const counts = []
  for (const name of ['first', 'second']) {
    const [writtenBefore, file] = [progress.written, join(directory, name)]
    expect((await backUp(service, file)).code).toBe(0)
    counts.push({ name, least: writtenBefore, most: progress.written + 1 })
  }
  progress.isOver = true
  await busy
  expect(progress.asked).toBeGreaterThan(0)
  for (const { name, least, most } of counts) {
    const restored = join(directory, `${name}-restored`)
    expect((await verdictCommand(['restore', join(directory, name), restored])).code).toBe(0)
    const next = await startedService({ storeUrl: `lmdb:${restored}` })
    const list = await next.get<{ total_count: number }>(`${FACTS}/users?include_total_count=true&per_page=1`)
    const users = list.body.total_count - 1
    expect([users % 2, users / 2 >= least, users / 2 <= most]).toEqual([0, true, true])
    await next.close()
  }
})

describe('a backup', () => {
  test('is rejected for keys other than those of the organization, and for stores in memory', async () => {
    const service = await startedService()
    expect((await service.send('POST', '/v2/backup', { key: API_KEY })).status).toBe(403)
    expect((await service.send('POST', '/v2/backup', { key: null })).status).toBe(401)
    const refused = await service.send('POST', '/v2/backup', { key: ADMIN_KEY })
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('in memory'),
    ])
  })

  test('is rejected during another backup, until the other backup ends or its client disconnects', async () => {
    const service = await filled(join(storeDirectory(), 'store'))
    // The backup must be larger than the socket buffers.
    for (let bulk = 0; bulk < 5; bulk += 1) {
      const operations = Array.from({ length: 60 }, (_, n) => ({
        key: `large-${bulk}-${n}`,
        attributes: { text: 'x'.repeat(60_000) },
      }))
      expect((await service.post(`${FACTS}/bulk/users`, { operations })).status).toBe(200)
    }
    const controller = new AbortController()
    onTestFinished(() => controller.abort())
    const backup = { method: 'POST', headers: { authorization: `Bearer ${ADMIN_KEY}` } }
    const url = `${service.address}/v2/backup`
    const first = await fetch(url, { ...backup, signal: controller.signal })
    expect([first.status, (await fetch(url, backup)).status]).toEqual([200, 503])
    controller.abort()
    await expect
      .poll(async () => {
        const next = await fetch(url, backup)
        await next.arrayBuffer()
        return next.status
      })
      .toBe(200)
  })
})

describe('a restore', () => {
  async function taken(): Promise<{ readonly directory: string; readonly file: string }> {
    const directory = storeDirectory()
    const service = await filled(join(directory, 'store'))
    const file = join(directory, 'backup')
    expect((await backUp(service, file)).code).toBe(0)
    return { directory, file }
  }

  test('fails without leaving a store if the backup is invalid', async () => {
    const { directory, file } = await taken()
    const bytes = readFileSync(file)
    const damaged = Buffer.from(bytes)
    const at = bytes.length - 5_000
    damaged[at] = damaged[at]! ^ 1
    const text = (change: (manifest: string) => string) => {
      const end = bytes.indexOf(10)
      return Buffer.concat([Buffer.from(change(bytes.toString('utf8', 0, end))), bytes.subarray(end)])
    }
    for (const [name, content, message] of [
      ['cut', bytes.subarray(0, -1), 'the backup is truncated'],
      ['cut in the manifest', bytes.subarray(0, 40), 'this is not a Verdict backup'],
      ['damaged', damaged, 'the digest of'],
      ['longer', Buffer.concat([bytes, Buffer.from('x')]), 'data follows the last file'],
      ['none', Buffer.from('{"kind":"user"}\n'), 'this is not a Verdict backup'],
      ['empty', Buffer.alloc(0), 'this is not a Verdict backup'],
      [
        'from elsewhere',
        text(line => line.replace('organization/data.mdb', '../../../data.mdb')),
        'this is not a Verdict backup',
      ],
      [
        'of another form',
        text(line => line.replace('"format":1', '"format":2')),
        'has format 2, but this release reads format 1',
      ],
    ] as const) {
      const from = join(directory, 'spoilt')
      writeFileSync(from, content)
      const { code, stderr } = await verdictCommand(['restore', from, join(directory, 'target')])
      expect([name, code, stderr]).toEqual([name, 2, expect.stringContaining(message)])
      expect(readdirSync(directory).filter(entry => entry.startsWith('target'))).toEqual([])
    }
  })

  test('requires an empty directory', async () => {
    const { directory, file } = await taken()
    const target = join(directory, 'target')
    mkdirSync(target)
    writeFileSync(join(target, 'something'), 'else')
    const refused = await verdictCommand(['restore', file, target])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is not empty')])
    expect(readdirSync(target)).toEqual(['something'])
    const empty = join(directory, 'empty')
    mkdirSync(empty)
    expect((await verdictCommand(['restore', file, empty])).code).toBe(0)
  })
})

test('temporary files of a backup that was interrupted by a crash are deleted at the next start', async () => {
  const directory = join(storeDirectory(), 'store')
  const service = await filled(directory)
  await service.close()
  mkdirSync(join(directory, '.verdict-backup-Xy12Zz'))
  writeFileSync(join(directory, '.verdict-backup-Xy12Zz/data.mdb'), 'half of it')
  // The start must not delete this file of an operator.
  writeFileSync(join(directory, 'backup.verdict'), 'whole')
  await startedService({ storeUrl: `lmdb:${directory}` })
  expect(readdirSync(directory).filter(name => name.startsWith('.verdict-backup-'))).toEqual([])
  expect(readdirSync(directory)).toContain('backup.verdict')
})
