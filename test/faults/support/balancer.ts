/** HAProxy for the current test, with the configuration that `docker-compose.yml` mounts. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { HANG_MS } from '../../support/hang.ts'

const CONFIGURATION = fileURLToPath(new URL('../../../deploy/haproxy.cfg', import.meta.url))
const PATIENCE_MS = HANG_MS / 2

export interface BalancerOptions {
  /** Name and port under which HAProxy finds the nodes. */
  readonly nodes: string
  /** Host and port. */
  readonly nameServer: string
  /** Port of HAProxy. By default a free one. */
  readonly port?: number
}

export interface Balancer {
  readonly address: string
  /** Output of HAProxy, with timestamps. */
  log(): string
}

/** Resolves when HAProxy has a node that is ready. */
export async function startBalancer({ nodes, nameServer, port: given }: BalancerOptions): Promise<Balancer> {
  const port = given ?? (await freePort())
  const settings = { BIND: `127.0.0.1:${port}`, NODES: nodes, NAMESERVER: nameServer }
  const balancer = spawn('haproxy', ['-db', '-f', CONFIGURATION], { env: { ...process.env, ...settings } })
  let log = ''
  for (const output of [balancer.stdout, balancer.stderr]) {
    output
      .setEncoding('utf8')
      .on('data', (text: string) => (log += `${Math.round(performance.now())} ${text}`))
  }
  const ended = once(balancer, 'exit')
  onTestFinished(async () => {
    balancer.kill('SIGKILL')
    await ended
  })
  const address = `http://127.0.0.1:${port}`
  const until = performance.now() + PATIENCE_MS
  const isReady = () =>
    fetch(`${address}/ready`).then(
      answer => answer.ok,
      () => false,
    )
  while (!(await isReady())) {
    if (balancer.exitCode !== null || performance.now() > until)
      throw new Error(`HAProxy has no node that is ready: ${log}`)
    await pause(50)
  }
  return { address, log: () => log }
}
