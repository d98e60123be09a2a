/** A service with three environments, to test how they affect each other. */
import { expect } from 'vitest'
import { Scrape } from '#testing/requests/metrics.ts'
import { pause } from '#testing/processes/pause.ts'
import { ADMIN_KEY, type Answer, API_KEY, Client } from '#testing/processes/running-service.ts'
import { running, source } from '../../support/processes/started-process.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'

export const KEYS = {
  API_KEY,
  ADMIN_API_KEY: ADMIN_KEY,
  METRICS_TOKEN: 'a-token-of-a-scraper-for-tests',
}
export const ENVIRONMENTS = ['default', 'second', 'third'] as const
export type EnvironmentKey = (typeof ENVIRONMENTS)[number]

const ENVS = '/v2/projects/default/envs'

interface Environment {
  readonly id: string
  readonly closed?: { readonly reason: string; readonly since: string }
}

/** The current key of each environment. Keys remain valid after a restart. */
const secrets = new WeakMap<ThreeEnvironments, Map<EnvironmentKey, string>>()

export class ThreeEnvironments {
  readonly address: string
  readonly #service: ServiceProcess
  readonly #client: Client

  /** Uses the environments of an earlier run or creates them. */
  static async of(service: ServiceProcess): Promise<ThreeEnvironments> {
    const environments = new ThreeEnvironments(service, await service.address())
    const known = new Map<EnvironmentKey, string>([['default', API_KEY]])
    secrets.set(environments, known)
    for (const key of ENVIRONMENTS) {
      const isNew = (await environments.manage('GET', `${ENVS}/${key}`)).status === 404
      if (isNew) await environments.done('POST', ENVS, { key, name: key })
      const fetched = await environments.done<{ secret: string }>('GET', `/v2/api-key/default/${key}`)
      known.set(key, fetched.secret)
      if (isNew || (key === 'default' && (await environments.isEmpty()))) await environments.#fill(key)
    }
    return environments
  }

  private constructor(service: ServiceProcess, address: string) {
    this.#service = service
    this.address = address
    this.#client = Client.at(address)
  }

  async isEmpty(): Promise<boolean> {
    const roles = await this.manage<unknown[]>('GET', '/v2/schema/default/default/roles')
    return roles.body.length === 0
  }

  /** Sends a request with the key of the organization. */
  manage<Body = unknown>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    return this.#client.admin(method, path, body)
  }

  /** Like `manage`, but expects success and returns the body. */
  async done<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.manage<Body>(method, path, body)
    expect([method, path, answer.status < 300, answer.body]).toEqual([method, path, true, answer.body])
    return answer.body
  }

  addUser(environment: EnvironmentKey, key: string): Promise<Answer> {
    return this.manage('POST', `/v2/facts/default/${environment}/users`, { key })
  }

  removeUser(environment: EnvironmentKey, key: string): Promise<Answer> {
    return this.manage('DELETE', `/v2/facts/default/${environment}/users/${encodeURIComponent(key)}`)
  }

  environment(environment: EnvironmentKey): Promise<Environment> {
    return this.done('GET', `${ENVS}/${environment}`)
  }

  remove(environment: EnvironmentKey): Promise<unknown> {
    return this.done('DELETE', `${ENVS}/${environment}`)
  }

  async exported(environment: EnvironmentKey): Promise<{ readonly status: number; readonly body: string }> {
    const response = await fetch(`${this.address}${ENVS}/${environment}/export`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    })
    return { status: response.status, body: await response.text() }
  }

  async imported(environment: EnvironmentKey, text: string): Promise<number> {
    const path = `${ENVS}/${environment}/import?replace=true`
    const headers = { 'content-type': 'application/x-ndjson' }
    return (await this.#client.send('POST', path, { key: ADMIN_KEY, headers, text })).status
  }

  /** Checks whether the user may read documents in the environment. */
  decision(
    environment: EnvironmentKey,
    tenant = 'default',
  ): Promise<Answer<{ allow?: boolean; message?: string }>> {
    const key = secrets.get(this)!.get(environment)!
    return this.#client.send('POST', '/allowed', { key, body: readingIn(tenant) })
  }

  /** Sends enough checks in one request that the pool evaluates them. */
  bulk(environment: EnvironmentKey, tenant = 'default'): Promise<Answer> {
    const body = Array.from({ length: 4_000 }, () => readingIn(tenant))
    const key = secrets.get(this)!.get(environment)!
    return this.#client.send('POST', '/allowed/bulk', { key, body })
  }

  /** Returns for each environment the decision, or the status with which the check was rejected. */
  async decisions(): Promise<(boolean | number)[]> {
    return Promise.all(
      ENVIRONMENTS.map(async key => {
        const { status, body } = await this.decision(key)
        return status === 200 ? body.allow! : status
      }),
    )
  }

  /** Resolves when the environment is reported as open. Threads can decide a moment earlier. */
  async whenOpen(environment: EnvironmentKey): Promise<void> {
    while ((await this.environment(environment)).closed !== undefined) await pause()
  }

  /** Makes checks until the returned function is called. That function returns the rejected checks. */
  keepAsking(
    ...environments: readonly EnvironmentKey[]
  ): () => Promise<{ readonly asked: number; readonly refused: readonly Answer[] }> {
    const over = new AbortController()
    let asked = 0
    const refused: Answer[] = []
    const asking = environments.map(async key => {
      while (!over.signal.aborted) {
        const answer = await this.decision(key)
        asked += 1
        if (answer.status !== 200 || answer.body.allow !== true) refused.push(answer)
      }
    })
    const all = Promise.allSettled(asking)
    return async () => {
      over.abort()
      const failed = (await all).flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(failed).toEqual([])
      return { asked, refused }
    }
  }

  async isReady(): Promise<boolean> {
    return (await fetch(`${this.address}/ready`)).status === 200
  }

  /** Environments that the metrics report as closed. */
  async closedByMetrics(): Promise<string[]> {
    const { samples } = await Scrape.of(this.address, { authorization: `Bearer ${KEYS.METRICS_TOKEN}` })
    const closed = samples.filter(({ name, value }) => name === 'verdict_environment_closed' && value === 1)
    return closed.map(({ labels }) => labels['environment']!)
  }

  logMatch(pattern: RegExp): Promise<unknown> {
    return this.#service.logMatch(pattern)
  }

  end(signal: NodeJS.Signals): Promise<number | null> {
    return this.#service.end(signal)
  }

  async #fill(key: EnvironmentKey): Promise<void> {
    const [schema, facts] = [`/v2/schema/default/${key}`, `/v2/facts/default/${key}`]
    const resource = { key: 'document', name: 'Document', actions: { read: {} } }
    await this.done('POST', `${schema}/resources`, resource)
    const role = { key: 'reader', name: 'Reader', permissions: ['document:read'] }
    await this.done('POST', `${schema}/roles`, role)
    await this.done('POST', `${facts}/users`, { key: 'alice' })
    await this.done('POST', `${facts}/role_assignments`, { user: 'alice', role: 'reader', tenant: 'default' })
  }
}

function readingIn(tenant: string) {
  return { user: { key: 'alice' }, action: 'read', resource: { type: 'document', tenant } }
}

/** Settings with which deciding threads find a broken invariant in checks of the tenant. */
export function brokenAt(tenant: string) {
  return running(`import { isMainThread } from 'node:worker_threads'
    import { ResolvedQuery } from '${source('engine/shared-index/check/question.ts')}'
    import { InvariantError } from '${source('model/assert.ts')}'
    const { resolve } = ResolvedQuery.prototype
    if (!isMainThread) ResolvedQuery.prototype.resolve = function (record, tenant, sequence) {
      if (tenant === '${tenant}') throw new InvariantError('on purpose')
      return resolve.call(this, record, tenant, sequence)
    }`)
}

/** Settings with which a node cannot write commits about users with the prefix to its local replica. */
export function withoutCopyOf(prefix: string) {
  return running(`import { LocalCopy } from '${source('store/redis/copy/local-copy.ts')}'
    const { apply } = LocalCopy.prototype
    LocalCopy.prototype.apply = async function (entry, ...rest) {
      if (JSON.stringify(entry.changes).includes('${prefix}')) throw new Error('on purpose')
      return apply.call(this, entry, ...rest)
    }`)
}

/** Settings with which the index of a process accepts no users with the prefix. */
export function withoutRoomFor(prefix: string) {
  return running(`import { Facts } from '${source('engine/shared-index/write/facts.ts')}'
    import { AuthzError } from '${source('model/errors.ts')}'
    const { putUser } = Facts.prototype
    Facts.prototype.putUser = function (user, attributes) {
      if (user.startsWith('${prefix}')) throw new AuthzError('LIMIT_EXCEEDED', 'the index holds no more users')
      return putUser.call(this, user, attributes)
    }`)
}
