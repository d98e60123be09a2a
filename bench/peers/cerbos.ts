/**
 * The Cerbos server, over HTTP. There is a single policy. Each check includes the grants on the resource and
 * on its ancestors.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Query } from '../../src/model/decision.ts'
import { ACTIONS, closureOf, type Facts, type Peer } from './peer.ts'
import { CORES, freePort, PeerServer } from './peer-server.ts'

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
  readonly isOverHttp = true
  #directory: string | null = null
  #server: PeerServer | null = null
  #facts: Facts | null = null
  readonly #namesWith = new Map<string, Map<string, string[]>>()

  async load(facts: Facts): Promise<void> {
    this.#facts = facts
    for (const { who, role, on } of facts.grants) {
      const actions = this.#namesWith.get(on) ?? new Map<string, string[]>()
      this.#namesWith.set(on, actions)
      for (const action of ACTIONS[role]) actions.set(action, [...(actions.get(action) ?? []), who])
    }
    const directory = mkdtempSync(join(tmpdir(), 'verdict-cerbos-'))
    this.#directory = directory
    writeFileSync(join(directory, 'document.yaml'), POLICY)
    this.#server = await startCerbos(directory, CORES)
  }

  async check({ user, action, type, key }: Query): Promise<boolean> {
    const { memberOf, parentOf } = this.#facts!
    const way = closureOf(parentOf, `${type}:${key}`)
    const names = way.flatMap(on => this.#namesWith.get(on)?.get(action) ?? [])
    const answer = (await this.#server!.client.post('/api/check/resources', {
      principal: { id: user, roles: ['user'], attr: { names: closureOf(memberOf, user) } },
      resources: [{ actions: [action], resource: { kind: type, id: key, attr: { [action]: names } } }],
    })) as { results: { actions: Record<string, string> }[] }
    return answer.results[0]!.actions[action] === 'EFFECT_ALLOW'
  }

  async close(): Promise<void> {
    await this.#server?.stop()
    if (this.#directory !== null) rmSync(this.#directory, { recursive: true })
  }
}

/** Starts the server with the policies in the directory. */
export async function startCerbos(directory: string, cores: string): Promise<PeerServer> {
  const port = await freePort()
  const settings = [
    `server.httpListenAddr=127.0.0.1:${port}`,
    `server.grpcListenAddr=127.0.0.1:${await freePort()}`,
    'storage.driver=disk',
    `storage.disk.directory=${directory}`,
    'telemetry.disabled=true',
  ]
  // Starts the binary itself, because the script of the package does not forward signals to it.
  const binary = createRequire(import.meta.url).resolve(`@cerbos/cerbos-${process.platform}-${process.arch}`)
  const command = [binary, 'server', ...settings.map(setting => `--set=${setting}`), '--log-level=error']
  return PeerServer.start(command, port, '/_cerbos/health', { cores })
}
