/** The Cerbos server, over HTTP: one policy for all; with each question the grants on the resource and above it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Query } from '../../src/model/decision.ts'
import { ACTIONS, closureOf, type Facts, type Peer } from './peer.ts'

const BINARY = fileURLToPath(new URL('node_modules/cerbos/index.js', import.meta.url))
const POLICY = `
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: document
  version: default
  rules:
${['read', 'write', 'delete']
  .map(
    action => `    - actions: ["${action}"]
      effect: EFFECT_ALLOW
      roles: ["user"]
      condition:
        match:
          expr: size(intersect(P.attr.names, R.attr.${action})) > 0
`,
  )
  .join('')}`

export class Cerbos implements Peer {
  readonly name = 'Cerbos 0.51 (HTTP)'
  readonly cannot = 'keeps no relations: the caller sends all groups of the user and all grants on the way up'
  readonly #agent = new Agent({ keepAlive: true })
  #directory: string | null = null
  #child: ChildProcess | null = null
  #port = 0
  #facts: Facts | null = null
  readonly #namesWith = new Map<string, Map<string, string[]>>()

  async load(facts: Facts): Promise<void> {
    this.#facts = facts
    for (const { who, role, on } of facts.grants) {
      const actions = this.#namesWith.get(on) ?? new Map<string, string[]>()
      this.#namesWith.set(on, actions)
      for (const action of ACTIONS[role]) actions.set(action, [...(actions.get(action) ?? []), who])
    }
    if (this.#child) return
    const directory = mkdtempSync(join(tmpdir(), 'verdict-cerbos-'))
    this.#directory = directory
    writeFileSync(join(directory, 'document.yaml'), POLICY)
    this.#port = await freePort()
    const settings = [
      `server.httpListenAddr=127.0.0.1:${this.#port}`,
      `server.grpcListenAddr=127.0.0.1:${await freePort()}`,
      'storage.driver=disk',
      `storage.disk.directory=${directory}`,
      'telemetry.disabled=true',
    ]
    const flags = settings.map(setting => `--set=${setting}`)
    this.#child = spawn(process.execPath, [BINARY, 'server', ...flags, '--log-level=error'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    for (let tries = 0; ; tries++) {
      const isUp = await fetch(`http://127.0.0.1:${this.#port}/_cerbos/health`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isUp) return
      if (tries > 100) throw new Error('the Cerbos server did not start')
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }

  async check({ user, action, type, key }: Query): Promise<boolean> {
    const { memberOf, parentOf } = this.#facts!
    const way = closureOf(parentOf, `${type}:${key}`)
    const names = way.flatMap(on => this.#namesWith.get(on)?.get(action) ?? [])
    const answer = (await this.#post('/api/check/resources', {
      principal: { id: user, roles: ['user'], attr: { names: closureOf(memberOf, user) } },
      resources: [{ actions: [action], resource: { kind: type, id: key, attr: { [action]: names } } }],
    })) as { results: { actions: Record<string, string> }[] }
    return answer.results[0]!.actions[action] === 'EFFECT_ALLOW'
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    if (this.#child) {
      const ended = once(this.#child, 'exit')
      this.#child.kill('SIGTERM')
      await ended
    }
    if (this.#directory !== null) rmSync(this.#directory, { recursive: true })
  }

  #post(path: string, body: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, path, method: 'POST', agent: this.#agent }
      const sent = request(options, response => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString()
          if (response.statusCode === 200) resolve(JSON.parse(text))
          else reject(new Error(`Cerbos answered ${response.statusCode}: ${text.slice(0, 200)}`))
        })
      })
      sent.on('error', reject)
      sent.setHeader('content-type', 'application/json')
      sent.end(JSON.stringify(body))
    })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
