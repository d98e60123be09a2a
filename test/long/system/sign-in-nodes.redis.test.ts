/**
 * Sign-in at a real issuer on two nodes behind HAProxy, which sends each request to any of them. Redis is the
 * store (administration.md S3, S14, C7).
 */
import { spawnSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { REAL_CLIENT, startRealIssuer } from '#testing/issuer/real-issuer.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { type Client, question, startedService, storeDirectory } from '#testing/processes/running-service.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { startBalancer } from '../../faults/support/balancer.ts'
import { NameServer } from '../../faults/support/name-server.ts'
import { until } from '../../support/nodes.ts'
import { loopbackWithFree } from '../../support/processes/loopback.ts'
import { sharedRedis } from '../../support/processes/redis-server.ts'

const redis = await sharedRedis()
const hasBalancer = spawnSync('sh', ['-c', 'command -v haproxy']).status === 0
const SESSION_COOKIE = 'verdict-session'
const USERS = '/v2/facts/default/default/users'

interface Sent {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A browser that keeps the cookies of each origin. */
class Browser {
  readonly #cookies = new Map<string, Map<string, string>>()

  cookiesOf(origin: string): Map<string, string> {
    const kept = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, kept)
    return kept
  }

  async send(url: string, { method = 'GET', body, headers = {} }: Sent = {}): Promise<Response> {
    const kept = this.cookiesOf(new URL(url).origin)
    const cookie = Array.from(kept, pair => pair.join('=')).join('; ')
    const init = { method, redirect: 'manual', headers: { ...(cookie && { cookie }), ...headers } } as const
    const response = await fetch(url, { ...init, ...(body !== undefined && { body }) })
    for (const text of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = text.split('; ')
      const at = pair.indexOf('=')
      const expires = attributes.find(each => each.startsWith('expires='))
      const isOver =
        attributes.includes('Max-Age=0') || (expires !== undefined && Date.parse(expires.slice(8)) === 0)
      if (isOver) kept.delete(pair.slice(0, at))
      else kept.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return response
  }

  /** Follows redirects within the origin. Returns the first other address, or the last page. */
  async follow(url: string, sent: Sent = {}): Promise<{ readonly url: string; readonly text: string }> {
    const { origin } = new URL(url)
    let response = await this.send(url, sent)
    let at = url
    for (;;) {
      const location = response.headers.get('location')
      if (location === null) return { url: at, text: await response.text() }
      at = new URL(location, at).href
      if (new URL(at).origin !== origin) return { url: at, text: '' }
      response = await this.send(at)
    }
  }
}

async function deployment() {
  const [port, publicPort] = [await freePort(), await freePort()]
  const publicUrl = `http://127.0.0.1:${publicPort}`
  const ann = { name: 'Ann', email: 'ann@example.com', email_verified: true }
  const issuer = await startRealIssuer([publicUrl], { ann }, { notified: publicUrl })
  onTestFinished(() => issuer.close())
  const names = await NameServer.start()
  onTestFinished(() => names.close())
  const storeUrl = redis.url()
  const node = async (): Promise<Client> => {
    const host = await loopbackWithFree(port)
    names.addresses.add(host)
    return startedService({
      host,
      port,
      storeUrl,
      dataDirectory: storeDirectory(),
      publicUrl,
      oidcIssuer: issuer.origin,
      oidcClientId: REAL_CLIENT.id,
      oidcClientSecret: REAL_CLIENT.secret,
      oidcOwners: ['ann'],
    })
  }
  const nodes = [await node(), await node()] as const
  await startBalancer({ nodes: `verdict:${port}`, nameServer: names.place, port: publicPort })

  /** Numbers of requests of an operation on each node. */
  const countsOf = (endpoint: string) =>
    Promise.all(
      nodes.map(async ({ address }) =>
        (await Scrape.of(address)).sum('verdict_http_requests_total', { endpoint }),
      ),
    )
  /** Makes a request through the balancer. Returns the index of the node that responded, and the result. */
  async function on<Result>(endpoint: string, request: () => Promise<Result>) {
    const before = await countsOf(endpoint)
    const result = await request()
    const after = await countsOf(endpoint)
    const found = after.findIndex((count, index) => count > before[index]!)
    expect(after.reduce((sum, count) => sum + count) - before.reduce((sum, count) => sum + count)).toBe(1)
    return { node: found, result }
  }
  /** Repeats a request until both nodes have responded. Returns the statuses. */
  async function onBoth(endpoint: string, request: () => Promise<Response>): Promise<number[]> {
    const statuses = new Map<number, number>()
    while (statuses.size < nodes.length) {
      const { node: found, result } = await on(endpoint, request)
      await result.arrayBuffer()
      statuses.set(found, result.status)
    }
    return [...statuses.values()]
  }

  /** Signs in, and returns the nodes that began and finished the sign-in. */
  async function signIn(browser: Browser) {
    const begun = await on('beginSignIn', () =>
      browser.send(`${publicUrl}/v2/sign-in`, { method: 'POST', body: '{}', headers: { origin: publicUrl } }),
    )
    const { location } = (await begun.result.json()) as { readonly location: string }
    const page = await browser.follow(location)
    const back = page.url.startsWith(publicUrl) ? page : await browser.follow(`${page.url}?as=ann`)
    const finished = await on('finishSignIn', () => browser.send(back.url))
    const target = finished.result.headers.get('location')!
    expect(target).toMatch(`${publicUrl}/console#/signed-in?revision=`)
    return { began: begun.node, finished: finished.node, revision: target.split('revision=')[1]! }
  }
  return { publicUrl, issuer, nodes, on, onBoth, signIn }
}

describe.skipIf(!hasBalancer)('two nodes behind HAProxy (skipped without haproxy)', () => {
  test('serve sign-ins and sessions together, and end each session on both', async () => {
    const { publicUrl, issuer, nodes, on, onBoth, signIn } = await deployment()
    const ways = new Set<string>()
    const [browser, other] = [new Browser(), new Browser()]
    let revision = ''
    while (!(ways.has('0 1') && ways.has('1 0'))) {
      const signedIn = await signIn(browser)
      ways.add(`${signedIn.began} ${signedIn.finished}`)
      revision = signedIn.revision
      // Another number of requests, so that a balancer that alternates begins the next sign-in elsewhere.
      await browser.send(`${publicUrl}/v2/sign-in`)
    }
    const sessionAt = (of: Browser, least: string) => () =>
      of.send(`${publicUrl}/v2/session`, { headers: { 'x-min-revision': least } })
    expect(await onBoth('getSession', sessionAt(browser, revision))).toEqual([200, 200])

    const session = await (await sessionAt(browser, revision)()).json()
    const headers = {
      'content-type': 'application/json',
      'x-csrf-token': (session as { readonly csrf_token: string }).csrf_token,
      'x-verdict-environment': 'default/default',
    }
    let users = 0
    const create = () => {
      const body = JSON.stringify({ key: `user-${(users += 1)}` })
      return browser.send(publicUrl + USERS, { method: 'POST', body, headers })
    }
    expect(await onBoth('createUser', create)).toEqual([200, 200])
    const check = JSON.stringify(question('user-1', 'read', 'document:d1'))
    const decide = () => browser.send(`${publicUrl}/allowed`, { method: 'POST', body: check, headers })
    expect(await onBoth('isAllowed', decide)).toEqual([200, 200])

    const secret = browser.cookiesOf(publicUrl).get(SESSION_COOKIE)!
    const ended = await on('endSession', () =>
      browser.send(`${publicUrl}/v2/session`, { method: 'DELETE', headers }),
    )
    expect([ended.result.status, browser.cookiesOf(publicUrl).has(SESSION_COOKIE)]).toEqual([200, false])
    // A copy of the cookie, with the revision of the end.
    const stolen = () =>
      fetch(`${publicUrl}/v2/session`, {
        headers: {
          cookie: `${SESSION_COOKIE}=${secret}`,
          'x-min-revision': ended.result.headers.get('x-revision')!,
        },
      })
    expect(await onBoth('getSession', stolen)).toEqual([401, 401])

    // The issuer sends a logout token to one of the nodes.
    const again = await signIn(other)
    expect(await onBoth('getSession', sessionAt(other, again.revision))).toEqual([200, 200])
    const { text } = await other.follow(`${issuer.origin}/session/end`)
    const [, xsrf] = /name="xsrf" value="([^"]+)"/.exec(text)!
    const form = new URLSearchParams({ xsrf: xsrf!, logout: 'yes' })
    await other.follow(`${issuer.origin}/session/end/confirm`, {
      method: 'POST',
      body: form.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const cookie = `${SESSION_COOKIE}=${other.cookiesOf(publicUrl).get(SESSION_COOKIE)}`
    for (const { address } of nodes) {
      await until(401, async () => (await fetch(`${address}/v2/session`, { headers: { cookie } })).status)
    }
  })
})
