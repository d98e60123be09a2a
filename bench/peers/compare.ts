/**
 * Measures the same model and checks in other products. A product is measured at increasing sizes, up to the
 * largest that it can load within a minute, and is compared with this service at each size. Checks are sent
 * one after the other. The product runs in this process or is queried over HTTP, whichever it supports.
 * Decisions are verified first.
 */
import { PlainMaps } from '../lib/plain-maps.ts'
import type { Query } from '../../src/model/decision.ts'
import { Drive } from '../data/drive.ts'
import { loadShared } from '../engine/loading.ts'
import { ServerProcess } from '../http/server-process.ts'
import type { Stage } from '../http/stage.ts'
import type { Result } from '../http/throughput.ts'
import { API_KEY } from '../lib/prepared-store.ts'
import { Casbin } from './casbin.ts'
import { Cedar } from './cedar.ts'
import { Cerbos } from './cerbos.ts'
import * as goServers from './go-servers.ts'
import { OpenFga } from './openfga.ts'
import { installPackages } from './packages.ts'
import { BATCH, type Facts, factsOf, type Peer } from './peer.ts'
import { CORES, JsonClient } from './peer-server.ts'
import { SpiceDb } from './spicedb.ts'

const SCALES = [0.001, 0.01, 0.1, 1]
const LOAD_MS_MAX = 60_000
/**
 * Maximum load time in milliseconds after which the next size is tried. The next size has ten times as many
 * facts.
 */
const NEXT_LOAD_MS_MAX = LOAD_MS_MAX / 10
const CHECK_MS = 3_000
/** Number of checks that are verified. If a check takes long, fewer are verified. */
const VERIFIED = 200

interface Row {
  readonly peer: string
  readonly facts: number
  readonly loadMs: number
  readonly verified: number
  readonly theirs: Rates
  readonly ours: Rates
  readonly cannot: string
}

type CheckingPeer = Pick<Peer, 'check' | 'checkBatch'>

/** Checks per second. */
interface Rates {
  readonly single: number
  /**
   * Checks per second in requests of `BATCH` checks. Null if the product has no such requests, or if a single
   * check takes so long that a batch could time out.
   */
  readonly inBatches: number | null
}

/** Measures all sizes up to that of the stage. */
export async function measurePeers({ scale: scaleMax }: Stage): Promise<Result> {
  installPackages()
  const newPeers: (() => Peer)[] = [() => new Casbin(), () => new Cedar(), () => new Cerbos()]
  if (goServers.install(goServers.OPENFGA)) {
    newPeers.push(
      () => new OpenFga('memory'),
      () => new OpenFga('sqlite'),
    )
  }
  if (goServers.install(goServers.SPICEDB)) newPeers.push(() => new SpiceDb())
  const rows: Row[] = []
  for (const newPeer of newPeers) rows.push(...(await rowsOf(newPeer, scaleMax)))
  return { figures: [], raw: { batch: BATCH, peers: rows } }
}

/**
 * Returns one row per size. The last size is the largest that the peer can load, or the first at which it is
 * too slow.
 */
async function rowsOf(newPeer: () => Peer, scaleMax: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const scale of SCALES.filter(each => each <= scaleMax)) {
    const drive = new Drive('W1', scale)
    const facts = factsOf(drive.facts())
    const peer = newPeer()
    try {
      const loadMs = await loadMsOf(peer, facts)
      if (loadMs === null) break
      const row = await measured(peer, drive, facts, loadMs)
      rows.push(row)
      print(row)
      if (loadMs > NEXT_LOAD_MS_MAX || row.theirs.single < 1) break
    } finally {
      await peer.close()
    }
  }
  return rows
}

function print({ peer, facts, loadMs, theirs, ours, cannot }: Row): void {
  const rates = ({ single, inBatches }: Rates) =>
    `${Math.round(single)}${inBatches === null ? '' : ` (${Math.round(inBatches)} by ${BATCH})`}`
  process.stdout.write(
    `  ${peer.padEnd(28)} ${String(facts).padStart(8)} facts, loaded in ${Math.round(loadMs)} ms: ` +
      `${rates(theirs)} checks/s, ours ${rates(ours)}; ${cannot}\n`,
  )
}

/** Returns the load time in milliseconds. Null if it exceeds the limit. */
async function loadMsOf(peer: Peer, facts: Facts): Promise<number | null> {
  const signal = AbortSignal.timeout(LOAD_MS_MAX)
  const startedAt = performance.now()
  try {
    await peer.load(facts, signal)
  } catch (error) {
    if (!signal.aborted) throw error
    return null
  }
  const loadMs = performance.now() - startedAt
  return loadMs > LOAD_MS_MAX ? null : loadMs
}

async function measured(peer: Peer, drive: Drive, facts: Facts, loadMs: number): Promise<Row> {
  const right = new PlainMaps()
  right.apply(drive.things())
  right.apply(drive.facts())
  const queries = [...drive.candidates(500, 'allowed'), ...drive.candidates(500, 'denied')]
  const shuffled = queries.map((_, index) => queries[(index * 7_919) % queries.length]!)
  const until = performance.now() + CHECK_MS
  let verified = 0
  const mustBe = (query: Query, answer: boolean | undefined) => {
    if (answer === right.evaluate(query)) return
    throw new Error(`${peer.name} answers otherwise: ${JSON.stringify(query)}`)
  }
  for (const query of shuffled.slice(0, VERIFIED)) {
    mustBe(query, await peer.check(query))
    verified++
    if (performance.now() > until) break
  }
  const asked: CheckingPeer = verified < VERIFIED ? { check: query => peer.check(query) } : peer
  if (asked.checkBatch) {
    for (const batch of batchesOf(shuffled.slice(0, verified))) {
      const answers = await asked.checkBatch(batch)
      for (const [index, query] of batch.entries()) mustBe(query, answers[index])
    }
  }
  const theirs = await ratesOf(shuffled, asked)
  return {
    peer: peer.name,
    facts: facts.count,
    loadMs,
    verified,
    theirs,
    ours: peer.isOverHttp
      ? await oursOverHttp(drive, shuffled, theirs.inBatches !== null)
      : await oursInProcess(drive, shuffled),
    cannot: peer.cannot,
  }
}

async function ratesOf(queries: readonly Query[], asked: CheckingPeer): Promise<Rates> {
  const single = await rateOf(queries, query => asked.check(query))
  if (!asked.checkBatch) return { single, inBatches: null }
  return { single, inBatches: BATCH * (await rateOf(batchesOf(queries), batch => asked.checkBatch!(batch))) }
}

async function rateOf<Question>(
  questions: readonly Question[],
  ask: (question: Question) => unknown,
): Promise<number> {
  const startedAt = performance.now()
  let count = 0
  while (performance.now() - startedAt < CHECK_MS) {
    const answer = ask(questions[count % questions.length]!)
    if (answer instanceof Promise) await answer
    count++
  }
  return (count * 1_000) / (performance.now() - startedAt)
}

function batchesOf(queries: readonly Query[]): Query[][] {
  return Array.from({ length: Math.ceil(queries.length / BATCH) }, (_, index) =>
    queries.slice(index * BATCH, (index + 1) * BATCH),
  )
}

function oursInProcess(drive: Drive, queries: readonly Query[]): Promise<Rates> {
  const { reader } = loadShared(drive)
  return ratesOf(queries, { check: query => reader.evaluate(query) })
}

async function oursOverHttp(drive: Drive, queries: readonly Query[], alsoInBatches: boolean): Promise<Rates> {
  const scale = String(drive.documents / 1_000_000)
  const service = await ServerProcess.start(new URL('../http/drive-service.ts', import.meta.url), {
    args: [scale],
    cores: CORES,
  })
  const client = new JsonClient(service.address, { authorization: `Bearer ${API_KEY}` })
  const questionOf = ({ user, action, type, key }: Query) => ({
    user: { key: user },
    action,
    resource: { type, key },
  })
  try {
    return await ratesOf(queries, {
      check: async query => ((await client.post('/allowed', questionOf(query))) as { allow: boolean }).allow,
      ...(alsoInBatches && {
        checkBatch: async batch => {
          const answer = await client.post('/allowed/bulk', batch.map(questionOf))
          return (answer as { allow: { allow: boolean }[] }).allow.map(({ allow }) => allow)
        },
      }),
    })
  } finally {
    client.close()
    await service.stop()
  }
}
