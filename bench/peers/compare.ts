/**
 * The same model and the same questions elsewhere: at the largest size that each takes within a minute, beside ours at that
 * size, one question after the other, in one process with the caller or over HTTP as theirs is. Answers are compared first.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { MapEngine } from '../../src/engine/map-engine/map-engine.ts'
import type { Query } from '../../src/model/decision.ts'
import { Drive } from '../datasets/drive.ts'
import { loadShared } from '../engine/loading.ts'
import { ServerProcess } from '../http/server-process.ts'
import type { Stage } from '../http/stage.ts'
import type { Result } from '../http/throughput.ts'
import { API_KEY } from '../lib/prepared-store.ts'
import { Casbin } from './casbin.ts'
import { Cedar } from './cedar.ts'
import { Cerbos } from './cerbos.ts'
import { type Facts, factsOf, type Peer } from './peer.ts'

const SCALES = [0.001, 0.01, 0.1, 1]
const LOAD_MS_MAX = 60_000
/** Beyond so much for the size before, ten times as many facts are not tried. */
const NEXT_LOAD_MS_MAX = LOAD_MS_MAX / 10
const CHECK_MS = 3_000
/** Compared with what must be answered; fewer where a check takes long. */
const VERIFIED = 200

interface Row {
  readonly peer: string
  readonly facts: number
  readonly loadMs: number
  readonly checksPerSecond: number
  readonly verified: number
  readonly oursPerSecond: number
  readonly cannot: string
}

export async function measurePeers(_stage: Stage): Promise<Result> {
  install()
  const rows: Row[] = []
  for (const newPeer of [() => new Casbin(), () => new Cedar(), () => new Cerbos()]) {
    const row = await largest(newPeer)
    rows.push(row)
    process.stdout.write(
      `  ${row.peer.padEnd(20)} ${String(row.facts).padStart(8)} facts, loaded in ${Math.round(row.loadMs)} ms: ` +
        `${Math.round(row.checksPerSecond)} checks/s, ours ${Math.round(row.oursPerSecond)}; ${row.cannot}\n`,
    )
  }
  return { figures: [], raw: { peers: rows } }
}

/** Not with the service: nobody who only runs it needs them. */
function install(): void {
  const directory = fileURLToPath(new URL('.', import.meta.url))
  if (existsSync(`${directory}node_modules`)) return
  execFileSync('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund'], {
    cwd: directory,
    stdio: 'inherit',
  })
}

/** The row of the largest size that it takes, and that it still answers. */
async function largest(newPeer: () => Peer): Promise<Row> {
  let row: Row | null = null
  for (const scale of SCALES) {
    const drive = new Drive('W1', scale)
    const facts = factsOf(drive.facts())
    const peer = newPeer()
    try {
      const startedAt = performance.now()
      await peer.load(facts)
      const loadMs = performance.now() - startedAt
      if (loadMs > LOAD_MS_MAX) break
      row = await measured(peer, drive, facts, loadMs)
      if (loadMs > NEXT_LOAD_MS_MAX || row.checksPerSecond < 1) break
    } finally {
      await peer.close()
    }
  }
  return row!
}

async function measured(peer: Peer, drive: Drive, facts: Facts, loadMs: number): Promise<Row> {
  const right = new MapEngine()
  right.apply(drive.things())
  right.apply(drive.facts())
  const queries = [...drive.candidates(500, 'allowed'), ...drive.candidates(500, 'denied')]
  const shuffled = queries.map((_, index) => queries[(index * 7_919) % queries.length]!)
  const until = performance.now() + CHECK_MS
  let verified = 0
  for (const query of shuffled.slice(0, VERIFIED)) {
    if ((await peer.check(query)) !== right.evaluate(query)) {
      throw new Error(`${peer.name} answers otherwise: ${JSON.stringify(query)}`)
    }
    verified++
    if (performance.now() > until) break
  }
  const isServer = peer instanceof Cerbos
  return {
    peer: peer.name,
    facts: facts.count,
    loadMs,
    checksPerSecond: await rateOf(shuffled, query => peer.check(query)),
    verified,
    oursPerSecond: isServer ? await oursOverHttp(drive, shuffled) : await oursInProcess(drive, shuffled),
    cannot: peer.cannot,
  }
}

async function rateOf(
  queries: readonly Query[],
  check: (query: Query) => boolean | Promise<boolean>,
): Promise<number> {
  const startedAt = performance.now()
  let count = 0
  while (performance.now() - startedAt < CHECK_MS) {
    const answer = check(queries[count % queries.length]!)
    if (answer instanceof Promise) await answer
    count++
  }
  return (count * 1_000) / (performance.now() - startedAt)
}

function oursInProcess(drive: Drive, queries: readonly Query[]): Promise<number> {
  const { reader } = loadShared(drive)
  return rateOf(queries, query => reader.evaluate(query))
}

async function oursOverHttp(drive: Drive, queries: readonly Query[]): Promise<number> {
  const scale = String(drive.documents / 1_000_000)
  const service = await ServerProcess.start(new URL('../http/drive-service.ts', import.meta.url), {
    args: [scale],
    cores: '0,1',
  })
  const agent = new Agent({ keepAlive: true })
  const { hostname, port } = new URL(service.address)
  const ask = ({ user, action, type, key }: Query) =>
    new Promise<boolean>((resolve, reject) => {
      const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
      const options = { host: hostname, port, path: '/allowed', method: 'POST', agent, headers }
      const sent = request(options, response => {
        let text = ''
        response.on('data', (piece: Buffer) => (text += piece.toString()))
        response.on('end', () => resolve((JSON.parse(text) as { allow: boolean }).allow))
      })
      sent.on('error', reject)
      sent.end(JSON.stringify({ user: { key: user }, action, resource: { type, key } }))
    })
  try {
    return await rateOf(queries, ask)
  } finally {
    agent.destroy()
    await service.stop()
  }
}
