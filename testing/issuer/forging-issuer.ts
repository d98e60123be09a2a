/**
 * An OpenID Connect issuer on a loopback address that tests control completely: its keys, its metadata, the
 * claims and signatures of its tokens, and each response. It verifies requests as a strict issuer does, and
 * records them.
 */
import { type createPrivateKey, createHmac, generateKeyPairSync, hash, randomUUID, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type PrivateKey = ReturnType<typeof createPrivateKey>
type Json = Readonly<Record<string, unknown>>

export interface SigningKey {
  readonly privateKey: PrivateKey
  readonly published: Json & { readonly kid: string }
}

/** A request of the service, with its form or query. */
export interface SeenRequest {
  readonly path: string
  readonly fields: URLSearchParams
  readonly authorization: string | undefined
}

/** Changes to a token: members that are undefined are removed. */
export interface Forgery {
  readonly head?: Json
  readonly claims?: Json
  readonly key?: SigningKey
  /** Changes the signed token. */
  readonly tamper?: (token: string) => string
}

export const CLIENT_ID = 'verdict'
export const CLIENT_SECRET = 'client-secret of the tests'

export function newKey(kid: string = randomUUID()): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { privateKey, published: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' } }
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs a token with `RS256`, or as its forged head states. */
export function signed(head: Json, claims: Json, { privateKey }: SigningKey): string {
  const text = `${part(head)}.${part(claims)}`
  if (head['alg'] === 'none') return `${text}.`
  // The secret of the client is the key of a token with a symmetric algorithm.
  const bytes =
    head['alg'] === 'HS256'
      ? createHmac('sha256', CLIENT_SECRET).update(text).digest()
      : sign('sha256', Buffer.from(text), privateKey)
  return `${text}.${bytes.toString('base64url')}`
}

export class ForgingIssuer {
  readonly requests: SeenRequest[] = []
  keys = [newKey()]
  /** Claims of the person who signs in. */
  person: Json = { sub: 'ann', name: 'Ann Lee', email: 'ann@example.com', email_verified: true }
  forgery: Forgery = {}
  metadata: Json = {}
  userInfo: Json | null = null
  /** Replaces the response to a path, unless it returns false. */
  intercept: (path: string, response: ServerResponse) => boolean = () => false
  #codes = new Map<string, URLSearchParams>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  static async start(): Promise<ForgingIssuer> {
    const issuer = new ForgingIssuer()
    await issuer.#listen(0)
    return issuer
  }

  #listen(port: number): Promise<void> {
    return new Promise(resolve => this.#server.listen(port, '127.0.0.1', resolve))
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  /** Undoes all changes of a test, except for the keys. */
  reset(): void {
    this.requests.length = 0
    this.forgery = {}
    this.metadata = {}
    this.userInfo = null
    this.intercept = () => false
  }

  /** Grants the authorization request at this address. Returns the parameters of the response. */
  authorize(location: string): { readonly state: string; readonly code: string } {
    const { searchParams } = new URL(location)
    const code = randomUUID()
    this.#codes.set(code, searchParams)
    return { state: searchParams.get('state')!, code }
  }

  /** A token of the person for the client. */
  token(
    claims: Json,
    { head, claims: changed, key = this.keys[0]!, tamper = text => text }: Forgery,
  ): string {
    const now = Math.floor(Date.now() / 1_000)
    const usual = { iss: this.origin, aud: CLIENT_ID, iat: now, exp: now + 60 }
    const given = { ...usual, ...claims, ...changed }
    return tamper(signed({ alg: 'RS256', kid: key.published.kid, ...head }, given, key))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams } = new URL(request.url!, this.origin)
    const fields = request.method === 'POST' ? new URLSearchParams(await bodyOf(request)) : searchParams
    this.requests.push({ path, fields, authorization: request.headers.authorization })
    if (this.intercept(path, response)) return
    const [status, body] = this.#bodyOf(path, fields, request.headers.authorization)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  #bodyOf(path: string, fields: URLSearchParams, authorization: string | undefined): [number, unknown] {
    const { origin } = this
    switch (path) {
      case '/.well-known/openid-configuration':
        return [
          200,
          {
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
            jwks_uri: `${origin}/keys`,
            end_session_endpoint: `${origin}/logout`,
            id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
            ...(this.userInfo && { userinfo_endpoint: `${origin}/userinfo` }),
            ...this.metadata,
          },
        ]
      case '/keys':
        return [200, { keys: this.keys.map(({ published }) => published) }]
      case '/userinfo':
        return [200, this.userInfo]
      case '/token':
        return this.#exchange(fields, authorization)
      default:
        return [404, {}]
    }
  }

  #exchange(fields: URLSearchParams, authorization: string | undefined): [number, unknown] {
    const code = fields.get('code') ?? ''
    const asked = this.#codes.get(code)
    this.#codes.delete(code)
    const secret = encodeURIComponent(CLIENT_SECRET).replaceAll('%20', '+')
    const isClient = authorization === `Basic ${Buffer.from(`${CLIENT_ID}:${secret}`).toString('base64')}`
    if (!isClient) return [401, { error: 'invalid_client' }]
    const challenge = hash('sha256', fields.get('code_verifier') ?? '', 'base64url')
    const isGood =
      asked?.get('code_challenge') === challenge && asked.get('redirect_uri') === fields.get('redirect_uri')
    if (!isGood) return [400, { error: 'invalid_grant', error_description: `the code ${code} was used` }]
    const idToken = this.token({ ...this.person, nonce: asked.get('nonce') }, this.forgery)
    return [200, { access_token: 'access-token of the tests', token_type: 'Bearer', id_token: idToken }]
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text
}
