/**
 * An environment of a million facts, imported over HTTP into the embedded store and exported again: how long each takes, whether
 * what came out is what went in, and what decisions and writes in the same service wait meanwhile.
 *
 *     node bench/management/import.ts [FACTS]
 */
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../../src/config/read-config.ts'
import { tuneV8 } from '../../src/composition/v8-tuning.ts'
import { startService } from '../../src/composition/service.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { atMost, percentile, publish } from '../lib/measure.ts'

const facts = Number(process.argv[2] ?? 1_000_000)
// As `main.ts` does.
tuneV8()
const API_KEY = 'import-key-import-key'
const ADMIN_API_KEY = 'import-admin-import-admin'
const SECONDS_MAX = 60
/** Of the facts: users, documents, folders; the rest are assignments and tuples. */
const [USERS, FOLDERS] = [Math.ceil(facts * 0.05), Math.ceil(facts * 0.02)]
const DOCUMENTS = Math.ceil(facts * 0.3)
const TUPLES = DOCUMENTS
const ASSIGNMENTS = facts - USERS - FOLDERS - DOCUMENTS - TUPLES

function* lines(): Iterable<object> {
  const viewer = { name: 'Viewer', permissions: ['read'] }
  const derived = [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }]
  yield { kind: 'environment', format: 1 }
  yield { kind: 'resource', key: 'folder', name: 'Folder', actions: { read: {} }, roles: { viewer } }
  yield {
    kind: 'resource',
    key: 'document',
    name: 'Document',
    actions: { read: {} },
    relations: { parent: 'folder' },
    roles: { viewer: { ...viewer, granted_to: { users_with_role: derived } } },
  }
  yield { kind: 'tenant', key: 'default', name: 'Default' }
  for (let user = 0; user < USERS; user += 1) {
    yield { kind: 'user', key: `user-${user}`, email: `user-${user}@example.com`, attributes: { n: user } }
  }
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    yield { kind: 'instance', resource: 'folder', key: `folder-${folder}`, tenant: 'default' }
  }
  for (let document = 0; document < DOCUMENTS; document += 1) {
    yield { kind: 'instance', resource: 'document', key: `document-${document}`, tenant: 'default' }
  }
  for (let document = 0; document < TUPLES; document += 1) {
    const subject = `folder:folder-${(document * 7_919) % FOLDERS}`
    yield { kind: 'tuple', subject, relation: 'parent', object: `document:document-${document}` }
  }
  for (let index = 0; index < ASSIGNMENTS; index += 1) {
    const [user, document] = [index % USERS, (index * 104_729 + Math.floor(index / USERS)) % DOCUMENTS]
    yield {
      kind: 'assignment',
      user: `user-${user}`,
      role: 'viewer',
      resource_instance: `document:document-${document}`,
    }
  }
}

async function writeFile(file: string): Promise<number> {
  const output = createWriteStream(file)
  let count = 0
  let text = ''
  for (const line of lines()) {
    text += `${JSON.stringify(line)}\n`
    count += 1
    if (text.length < 1_000_000) continue
    if (!output.write(text)) await once(output, 'drain')
    text = ''
  }
  output.end(`${text}${JSON.stringify({ kind: 'end', lines: count })}\n`)
  await once(output, 'finish')
  return count
}

/** Asks again and again until it is stopped; returns how long each answer took, in milliseconds. */
async function watch(ask: () => Promise<Response>, stop: AbortSignal): Promise<number[]> {
  const took: number[] = []
  while (!stop.aborted) {
    const from = performance.now()
    const answer = await ask()
    await answer.text()
    if (answer.status >= 300 && answer.status !== 409)
      throw new Error(`a request beside the import: ${answer.status}`)
    took.push(performance.now() - from)
    await sleep(20)
  }
  return took
}

async function digestOf(address: string): Promise<{ readonly digest: string; readonly bytes: number }> {
  const response = await fetch(`${address}/v2/projects/default/envs/big/export`, {
    headers: { authorization: `Bearer ${ADMIN_API_KEY}` },
  })
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of response.body!) {
    hash.update(piece)
    bytes += piece.length
  }
  return { digest: hash.digest('hex'), bytes }
}

const directory = mkdtempSync(join(tmpdir(), 'verdict-import-'))
const file = join(directory, 'content.ndjson')
const environment = {
  API_KEY,
  ADMIN_API_KEY,
  PORT: '0',
  HTTP_THREADS: '1',
  STORE_URL: `lmdb:${join(directory, 'data')}`,
}
const config = readConfig({ ...environment, LOG_LEVEL: 'warn' })
try {
  await writeFile(file)
  const service = await startService(config, createLog(config.logLevel), {
    onDeath: error => {
      throw error
    },
    onThreads: () => {},
  })
  const { address } = service
  const send = (method: string, path: string, key: string, body: unknown) =>
    fetch(address + path, { method, headers: { authorization: `Bearer ${key}` }, body: JSON.stringify(body) })
  await send('POST', '/v2/projects/default/envs', ADMIN_API_KEY, { key: 'big', name: 'Big' })
  const stop = new AbortController()
  const question = { user: { key: 'nobody' }, action: 'read', resource: { type: 'document', key: 'd' } }
  const decisions = watch(() => send('POST', '/allowed', API_KEY, question), stop.signal)
  let next = 0
  const user = () => ({ key: `user-${next++}` })
  const writes = watch(() => send('POST', '/v2/facts/default/default/users', API_KEY, user()), stop.signal)

  const importFrom = performance.now()
  const response = await fetch(`${address}/v2/projects/default/envs/big/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_API_KEY}`, 'content-type': 'application/x-ndjson' },
    body: createReadStream(file) as unknown as ReadableStream,
    duplex: 'half',
  } as RequestInit)
  const told = await response.text()
  if (response.status !== 200) throw new Error(`the import was refused: ${told}`)
  const importSeconds = (performance.now() - importFrom) / 1_000
  stop.abort()
  const [decisionMs, writeMs] = await Promise.all([decisions, writes])

  const exportFrom = performance.now()
  const first = await digestOf(address)
  const exportSeconds = (performance.now() - exportFrom) / 1_000
  const { data } = (await (
    await fetch(`${address}/v2/api-key?object_type=env&proj_id=default&per_page=100`, {
      headers: { authorization: `Bearer ${ADMIN_API_KEY}` },
    })
  ).json()) as { data: unknown[] }
  publish(
    'import',
    [
      atMost(`import of ${facts} facts`, importSeconds, SECONDS_MAX, 's'),
      atMost('export of them', exportSeconds, SECONDS_MAX, 's'),
      atMost('p99 of a decision meanwhile', percentile(decisionMs, 0.99), 100, 'ms'),
      atMost('p99 of a write meanwhile', percentile(writeMs, 0.99), 1_000, 'ms'),
    ],
    {
      facts,
      fileBytes: statSync(file).size,
      exportBytes: first.bytes,
      keys: data.length,
      told: JSON.parse(told),
      decisionMs: {
        p50: percentile(decisionMs, 0.5),
        max: Math.max(...decisionMs),
        count: decisionMs.length,
      },
      writeMs: { p50: percentile(writeMs, 0.5), max: Math.max(...writeMs), count: writeMs.length },
    },
  )
  await service.close()
} finally {
  rmSync(directory, { recursive: true, force: true })
}
