/** A real Redis in a process of its own, on a free port of this machine, with nothing on disk. For tests and benches. */
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Ports are free only until somebody else takes them. */
const START_ATTEMPTS = 5

export interface RedisUnderTest {
  readonly host: string
  readonly port: number
  /** A store URL with a prefix that nobody else uses; `at` names another host and port that lead there. */
  url(at?: { readonly host: string; readonly port: number }): string
}

export interface RedisProcess extends RedisUnderTest {
  stop(): Promise<void>
}

/** Starts a server; whoever does so stops it. */
export async function startRedis(): Promise<RedisProcess> {
  const program = serverProgram()
  for (let attempt = 1; ; attempt += 1) {
    const server = await tryStart(program, await freePort())
    if (server) return server
    if (attempt === START_ATTEMPTS) throw new Error(`${program} does not start`)
  }
}

async function tryStart(program: string, port: number): Promise<RedisProcess | null> {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-redis-'))
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory]
  const child = spawn(program, [...options, '--save', '', '--appendonly', 'no'])
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit')
  const stop = async (): Promise<void> => {
    kill()
    await ended
    process.off('exit', kill)
    rmSync(directory, { recursive: true, force: true })
  }
  if (await saysReady(child.stdout, ended)) {
    const host = '127.0.0.1'
    return {
      host,
      port,
      url: (at = { host, port }) => `redis://${at.host}:${at.port}?prefix=${randomUUID()}`,
      stop,
    }
  }
  await stop()
  return null
}

async function saysReady(output: NodeJS.ReadableStream, ended: Promise<unknown>): Promise<boolean> {
  let said = ''
  output.setEncoding('utf8')
  const ready = new Promise<boolean>(resolve => {
    output.on('data', (text: string) => {
      said += text
      if (said.includes('Ready to accept connections')) resolve(true)
    })
  })
  return Promise.race([ready, ended.then(() => false)])
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Throws when there is none, and says how to come by one. `redis-setup.ts` has tried to. */
function serverProgram(): string {
  const found = redisOnPath()
  if (found !== null) return found
  throw new Error(
    'these tests need a real Redis: install the package redis-server (or valkey-server), or set TEST_REDIS_URL',
  )
}

export function redisOnPath(): string | null {
  for (const program of ['redis-server', 'valkey-server']) {
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore' })
      return program
    } catch {
      // Not that one.
    }
  }
  return null
}
