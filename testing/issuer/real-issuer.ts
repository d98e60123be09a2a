/**
 * A real OpenID Connect issuer (`oidc-provider`) with a sign-in page for browsers. It has another host name
 * than the service, so that browsers treat its redirect as one from another site.
 */
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js'

/** Claims of a person. The key in `people` is the subject. */
export interface Person {
  readonly name: string
  readonly email: string
  readonly email_verified: boolean
  readonly groups?: readonly string[]
}

export const REAL_CLIENT = { id: 'verdict', secret: 'client secret of the browser tests' }

const PAGE_HEADERS = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }

/**
 * Starts an issuer for services at these addresses. Its page offers each person, and to cancel. It notifies
 * the service at `notified` when a person signs out.
 */
export async function startRealIssuer(
  publicUrls: readonly string[],
  people: Readonly<Record<string, Person>>,
  { port = 0, notified }: { readonly port?: number; readonly notified?: string } = {},
) {
  const server = createServer((request, response) => void respond(request, response))
  await new Promise<void>(resolve => {
    server.listen(port, '127.0.0.1', resolve)
  })
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const provider = new Provider(origin, {
    adapter: MemoryAdapter,
    jwks: { keys: [privateKey.export({ format: 'jwk' })] },
    clients: [
      {
        client_id: REAL_CLIENT.id,
        client_secret: REAL_CLIENT.secret,
        redirect_uris: publicUrls.map(url => `${url}/v2/sign-in/callback`),
        post_logout_redirect_uris: publicUrls.map(url => `${url}/console`),
        ...(notified === undefined
          ? {}
          : { backchannel_logout_uri: `${notified}/v2/sign-in/back-channel-logout` }),
      },
    ],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    // The ID token contains all claims, so that no request to the UserInfo endpoint is needed.
    conformIdTokenClaims: false,
    cookies: { keys: ['key of the cookies of the browser tests'] },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource: askForSignOut, postLogoutSuccessSource: signedOut },
    },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, ...people[sub] }),
    }),
    // Without the protection of the package, which allows no requests to loopback addresses, and aborts
    // requests on slow machines.
    fetch: (url: string, { method, headers, body }: RequestInit) =>
      fetch(url, { method: method!, headers: headers!, body: body!, redirect: 'manual' }),
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    // Each person allows everything that the client requests.
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  })
  const answer = provider.callback()

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, origin)
    if (!pathname.startsWith('/interaction/')) return answer(request, response)
    const person = searchParams.get('as')
    if (person === null) {
      response.writeHead(200, PAGE_HEADERS).end(pageOf(pathname, Object.keys(people)))
      return
    }
    const result = person === '' ? { error: 'access_denied' } : { login: { accountId: person } }
    await provider.interactionFinished(request, response, result)
  }

  return {
    origin,
    close: async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

interface GrantContext {
  readonly oidc: {
    readonly session: { readonly accountId: string }
    readonly client: { readonly clientId: string }
  }
}

interface LogoutContext {
  body: string
}

function signedOut(context: LogoutContext): void {
  context.body = '<!doctype html><title>Issuer</title><h1>Signed out</h1>'
}

/** `form` has the id `op.logoutForm`. */
function askForSignOut(context: LogoutContext, form: string): void {
  const submit = '<button type="submit" form="op.logoutForm" name="logout" value="yes">Yes, sign out</button>'
  context.body = `<!doctype html><title>Issuer</title><h1>Sign out?</h1>${form}${submit}`
}

function pageOf(path: string, people: readonly string[]): string {
  const link = (as: string, text: string): string => `<p><a href="${path}?as=${as}">${text}</a></p>`
  return `<!doctype html><title>Issuer</title><h1>Issuer</h1>${people.map(each => link(each, each)).join('')}${link('', 'Cancel')}`
}
