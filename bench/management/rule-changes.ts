/**
 * Compares the processor time of changing rules in a service with 100 rules and in a service with 50,000
 * rules. The changes are adding a rule, removing a rule and changing a condition set. The time is that of the
 * whole process: the commit, the index and the decision thread. Each change is followed by a decision that
 * depends on it.
 *
 *     node bench/management/rule-changes.ts [CHECKOUT, default this one] [rules, default 50000]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { RowLoader } from '#testing/processes/row-loader.ts'
import { ServerProcess } from '../http/server-process.ts'
import { LoadClient, encode } from '../lib/load-generator.ts'
import { atMost, type Figure, median, publish } from '../lib/measure.ts'
import { loadChangedRules, OWN_SETS, ownConditions } from './deletion-targets.ts'

const API_KEY = 'bench-key-bench-key'
const FEW = 100
const RATIO_MAX = 2
const ROUNDS = 5
const checkout = resolve(process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url)))
const many = Number(process.argv[3] ?? 50_000)
const START = new URL('src/start.js', `${pathToFileURL(checkout).href}/`)

interface Subject {
  readonly rules: number
  readonly server: ServerProcess
  /** Processor time per change in milliseconds. Each kind of change has one value per round. */
  readonly ms: Record<Kind, number[]>
}

const KINDS = ['a rule added', 'a rule removed', 'a condition set changed'] as const
type Kind = (typeof KINDS)[number]

const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-'))

function start(storeUrl: string): Promise<ServerProcess> {
  const env = {
    API_KEY,
    PORT: '0',
    LOG_LEVEL: 'warn',
    HTTP_THREADS: '1',
    POOL_THREADS: '1',
    STORE_URL: storeUrl,
  }
  return ServerProcess.start(START, { env, cores: '0,1' })
}

async function subjectWith(rules: number): Promise<Subject> {
  const storeUrl = `lmdb:${join(directory, String(rules))}`
  const first = await start(storeUrl)
  const opened = await LoadClient.open(first.address)
  const scope = await opened.done(encode({ method: 'GET', path: '/v2/api-key/scope', body: '' }, API_KEY))
  opened.close()
  await first.stop()
  const store = await openStore(storeUrl, listRule)
  const { environment_id: environmentId } = scope as { readonly environment_id: string }
  const { ledger } = await store.environment(environmentId)
  await loadChangedRules(new RowLoader(ledger), rules)
  await store.close()
  const server = await start(storeUrl)
  const ms = { 'a rule added': [], 'a rule removed': [], 'a condition set changed': [] }
  return { rules, server, ms }
}

/** Checks the nth user, whose decision depends on the nth rule. Throws unless the decision is as expected. */
async function decides(caller: LoadClient, nth: number, expected: boolean): Promise<void> {
  const body = { user: { key: `own-${nth}` }, action: 'free', resource: { type: 'doc', tenant: 'home' } }
  const answer = await caller.done(encode({ path: '/allowed', body: JSON.stringify(body) }, API_KEY))
  const { allow } = answer as { readonly allow: boolean }
  if (allow !== expected) throw new Error(`own-${nth}: expected ${expected}, received ${allow}`)
}

/**
 * Makes one change of this kind for each set of the bench. Each change is followed by a decision that depends
 * on it. Records the time per change.
 */
async function measure(subject: Subject, kind: Kind, allows: boolean): Promise<void> {
  // A new client is opened for each block, because the service closes connections that are idle while the
  // other service is measured.
  const caller = await LoadClient.open(subject.server.address)
  const from = subject.server.cpuSeconds()
  for (let nth = 0; nth < OWN_SETS; nth += 1) {
    const { method, path, body } = changeOf(kind, nth, allows)
    await caller.done(encode({ method, path: `/v2/${path}`, body: JSON.stringify(body) }, API_KEY))
    await decides(caller, nth, allows)
  }
  caller.close()
  subject.ms[kind].push((1_000 * (subject.server.cpuSeconds() - from)) / OWN_SETS)
}

function changeOf(kind: Kind, nth: number, allows: boolean) {
  const rule = { user_set: `own-${nth}`, permission: 'doc:free', resource_set: 'any' }
  switch (kind) {
    case 'a rule added':
      return { method: 'POST', path: 'facts/default/default/set_rules', body: rule }
    case 'a rule removed':
      return { method: 'DELETE', path: 'facts/default/default/set_rules', body: rule }
    case 'a condition set changed':
      return {
        method: 'PATCH',
        path: `schema/default/default/condition_sets/own-${nth}`,
        body: { conditions: ownConditions(allows ? nth : OWN_SETS + nth) },
      }
  }
}

async function round(subject: Subject): Promise<void> {
  await measure(subject, 'a rule added', true)
  await measure(subject, 'a condition set changed', false)
  await measure(subject, 'a condition set changed', true)
  await measure(subject, 'a rule removed', false)
}

const subjects = [await subjectWith(FEW), await subjectWith(many)]
try {
  for (const subject of subjects) await round(subject)
  for (const { ms } of subjects) for (const kind of KINDS) ms[kind].length = 0
  for (let index = 0; index < ROUNDS; index += 1) for (const subject of subjects) await round(subject)
} finally {
  for (const { server } of subjects) await server.stop()
  rmSync(directory, { recursive: true, force: true })
}
const [few, much] = subjects as [Subject, Subject]
const figures = KINDS.map((kind): Figure => {
  const [small, large] = [median(few.ms[kind]), median(much.ms[kind])]
  const figure = `${kind}: ${small.toFixed(2)} ms with ${FEW} rules, ${large.toFixed(2)} with ${many}`
  return atMost(figure, large / small, RATIO_MAX, 'times')
})
publish('rule-changes', figures, {
  dataset: `${FEW} and ${many} rules; see deletion-targets.ts`,
  few: few.ms,
  many: much.ms,
})
