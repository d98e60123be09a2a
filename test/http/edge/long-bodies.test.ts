/** Capacity for long bodies that are being received: limits in all and per environment, and its release. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { longBodiesBytesMax, SEGMENT_BYTES } from '#http/edge/body-segments.ts'
import { bearerToken } from '#model/bearer-token.ts'
import type { Principal } from '#model/principal.ts'
import { allowedBody, CountedSegments, countingObserver, type EdgeServer, startEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

/** Capacity for two bodies of `LENGTH`; one environment has half of it. */
const SEGMENTS_MAX = 8
const LENGTH = 4 * SEGMENT_BYTES
const ids = { level: 'admin', organizationId: 'o', projectId: 'p', projectKey: 'project' } as const

/** Each key is the name of its environment. */
function authenticate(authorization: string): Principal | null {
  const environmentId = bearerToken(authorization)!
  return { kind: 'environment', keyId: null, ...ids, environmentId, environmentKey: environmentId }
}

interface Started extends EdgeServer {
  readonly stock: CountedSegments
  /** Keys of the requests whose heads the server has received. */
  readonly heads: string[]
  readonly statuses: number[]
  readonly limits: string[]
}

async function started(): Promise<Started> {
  const heads: string[] = []
  const limits: string[] = []
  const { statuses, observer } = countingObserver()
  const stock = new CountedSegments(SEGMENTS_MAX * SEGMENT_BYTES)
  const edge = await startEdge({
    authenticate: authorization => {
      heads.push(authorization)
      return authenticate(authorization)
    },
    segments: stock,
    limits: { bodyBytesMax: 2 * LENGTH },
    observer: { ...observer, limitReached: limit => void limits.push(limit) },
  })
  onTestFinished(async () => {
    await edge.server.close()
    expect(edge.faults).toEqual([])
  })
  return { ...edge, stock, heads, statuses, limits }
}

const PATHS = {
  '/allowed': allowedBody,
  '/v2/things': (bytes: number) => {
    const bare = JSON.stringify({ key: 'thing', attributes: '' })
    return bare.replace('""', `"${'x'.repeat(bytes - bare.length)}"`)
  },
} as const
type Path = keyof typeof PATHS

function text(environment: string, bytes: number, path: Path): string {
  const headers = [`Authorization: Bearer ${environment}`, `Content-Length: ${bytes}`]
  return requestText(`POST ${path}`, headers, PATHS[path](bytes))
}

async function ask(edge: Started, environment: string, bytes: number, path: Path = '/allowed') {
  const headers = { authorization: `Bearer ${environment}` }
  const answer = await fetch(edge.origin + path, { method: 'POST', headers, body: PATHS[path](bytes) })
  await answer.text()
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') }
}

/** A connection that sent a request except its last byte. */
async function unfinished(edge: Started, environment: string, bytes = LENGTH, path: Path = '/allowed') {
  const connection = await RawConnection.open(edge.port)
  onTestFinished(() => connection.destroy())
  await connection.send(text(environment, bytes, path).slice(0, -1))
  return connection
}

async function until(edge: Started, holds: () => boolean): Promise<void> {
  while (!holds()) await fetch(`${edge.origin}/nowhere`)
}

const REJECTED = { status: 503, retryAfter: '1' }
const GOOD = { status: 200, retryAfter: null }

describe.each(Object.keys(PATHS) as Path[])('the capacity for long bodies at %s', path => {
  test('is reused without new allocations after clients disconnect that sent twice as many bodies', async () => {
    const edge = await started()
    for (let wave = 1; wave <= 3; wave += 1) {
      const callers = ['one', 'one', 'other', 'other'].map(name => unfinished(edge, name, LENGTH, path))
      const connections = await Promise.all(callers)
      await until(edge, () => edge.heads.length === 4 * wave && edge.stock.out >= SEGMENTS_MAX)
      for (const connection of connections) connection.reset()
      await until(edge, () => edge.statuses.filter(status => status === 0).length === 4 * wave)
      expect([edge.stock.made, edge.stock.out]).toEqual([SEGMENTS_MAX, 0])
    }
    for (const environment of ['one', 'other'])
      expect(await ask(edge, environment, LENGTH, path)).toEqual(GOOD)
    expect(edge.stock.made).toBe(SEGMENTS_MAX)
  })

  test('is limited to exactly half for one environment, and does not limit short bodies or other environments', async () => {
    const edge = await started()
    expect(await ask(edge, 'one', LENGTH - 1, path)).toEqual(GOOD)
    expect(await ask(edge, 'one', LENGTH, path)).toEqual(GOOD)
    expect(await ask(edge, 'one', LENGTH + 1, path)).toEqual(REJECTED)
    const held = await unfinished(edge, 'one', LENGTH, path)
    await until(edge, () => edge.stock.out === SEGMENTS_MAX / 2)
    expect(await ask(edge, 'one', LENGTH, path)).toEqual(REJECTED)
    expect(await ask(edge, 'one', LENGTH / 4, path)).toEqual(GOOD)
    expect(await ask(edge, 'other', LENGTH, path)).toEqual(GOOD)
    expect(new Set(edge.limits)).toEqual(new Set(['pool']))
    expect((await held.ask(text('one', LENGTH, path).slice(-1)))?.status).toBe(200)
    expect(await ask(edge, 'one', LENGTH, path)).toEqual(GOOD)
  })
})

test('a rejected long body gets its response after the body was received, and keeps its connection', async () => {
  const edge = await started()
  const connection = await RawConnection.open(edge.port)
  onTestFinished(() => connection.destroy())
  const answer = await connection.ask(text('one', LENGTH + 1, '/allowed'))
  expect([answer?.status, answer?.headers.get('connection')]).toEqual([503, undefined])
  expect((await connection.ask(text('one', LENGTH, '/allowed')))?.status).toBe(200)
})

test('a long body is rejected if other environments occupy the whole capacity', async () => {
  const edge = await started()
  await Promise.all(['one', 'other'].map(name => unfinished(edge, name)))
  await until(edge, () => edge.stock.out >= SEGMENTS_MAX)
  expect(await ask(edge, 'third', LENGTH)).toEqual(REJECTED)
})

test('the capacity is eight bodies of the maximum length, with a minimum', () => {
  expect(longBodiesBytesMax(16 * SEGMENT_BYTES)).toBe(128 * SEGMENT_BYTES)
  expect(longBodiesBytesMax(16 * SEGMENT_BYTES + 1)).toBe(8 * 17 * SEGMENT_BYTES)
  expect(longBodiesBytesMax(1)).toBe(32 * SEGMENT_BYTES)
})
