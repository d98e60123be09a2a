/**
 * The OpenID Connect issuer: its metadata and keys, the authorization request, the exchange of a code, and
 * the verification of logout tokens (administration.md S1, S2, S6 to S8, S14). This file is loaded at the
 * first sign-in, because its libraries are large.
 */
import { hash } from 'node:crypto'
import { createLocalJWKSet, decodeProtectedHeader, type JWTVerifyResult, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { ISSUER_MS_MAX } from '#model/limits.ts'
import { IssuerError, issuerErrorOf } from './issuer-error.ts'
import { IssuerKeys, type KeySet } from './issuer-keys.ts'
import { logoutErrorOf, NOT_SIGNED } from './logout-token.ts'
import { type IssuerRequest, IssuerRequests } from './issuer-requests.ts'
import type { Transaction } from './transactions.ts'

export interface IssuerSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | null
  /** Scopes, separated by spaces. */
  readonly scopes: string
  readonly skewSeconds: number
  readonly redirectUri: string
}

/** Claims that the issuer has signed or sent about one person. */
export interface Claims {
  readonly idToken: client.IDToken
  /** Requests the claims of the UserInfo endpoint; null if the issuer has none. */
  userInfo(): Promise<client.UserInfoResponse | null>
}

const METADATA_MS = 3_600_000
const ALGORITHMS = ['RS', 'PS', 'ES'].flatMap(family => ['256', '384', '512'].map(size => family + size))
ALGORITHMS.push('EdDSA', 'Ed25519')

/** Parameters of the authorization response that are used. */
export interface AuthorizationResponse {
  readonly code: string
  /** The `iss` parameter (RFC 9207); null if it is absent. */
  readonly iss: string | null
}

export class Issuer {
  readonly #settings: IssuerSettings
  readonly #elapsedMs: () => number
  readonly #requests: IssuerRequests
  readonly #keys: IssuerKeys
  #metadata: { readonly value: client.ServerMetadata; readonly fetchedAt: number } | null = null
  #fetching: Promise<client.ServerMetadata> | null = null

  constructor(settings: IssuerSettings, elapsedMs: () => number) {
    this.#settings = settings
    this.#elapsedMs = elapsedMs
    this.#requests = new IssuerRequests(settings.issuer, elapsedMs)
    this.#keys = new IssuerKeys(elapsedMs)
  }

  /** Whether the issuer adds `iss` to each response, if that is already known (RFC 9207). */
  get namesItself(): boolean {
    return this.#metadata?.value.authorization_response_iss_parameter_supported === true
  }

  /** Address to which the browser goes. Throws `IssuerError` if the issuer cannot be used. */
  async authorizationUrl({ state, nonce, verifier }: Transaction): Promise<string> {
    const metadata = await this.#knownMetadata()
    const config = this.#configuration(metadata, this.#deadline())
    const { scopes, redirectUri } = this.#settings
    try {
      const address = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopes,
        response_mode: 'query',
        state,
        nonce,
        code_challenge: hash('sha256', verifier, 'base64url'),
        code_challenge_method: 'S256',
      }).href
      if (this.#requests.isAllowed(address)) return address
    } catch (error) {
      throw new IssuerError('unavailable', issuerErrorOf(error).reason)
    }
    throw new IssuerError('unavailable', 'address of the issuer is not https')
  }

  /** Exchanges the code once, and verifies the ID token. Throws `IssuerError`. */
  async exchange(
    { code, iss }: AuthorizationResponse,
    { state, nonce, verifier }: Transaction,
  ): Promise<Claims> {
    const deadline = this.#deadline()
    const metadata = await this.#knownMetadata()
    const config = this.#configuration(metadata, deadline)
    const response = new URL(this.#settings.redirectUri)
    response.search = new URLSearchParams({ state, code, ...(iss !== null && { iss }) }).toString()
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier }
      const tokens = await client.authorizationCodeGrant(config, response, {
        ...checks,
        idTokenExpected: true,
      })
      const idToken = tokens.claims()!
      this.#requirePast(idToken)
      const hasUserInfo = metadata.userinfo_endpoint !== undefined
      return {
        idToken,
        userInfo: async () =>
          hasUserInfo
            ? await client.fetchUserInfo(config, tokens.access_token, idToken.sub).catch(fail)
            : null,
      }
    } catch (error) {
      return fail(error)
    }
  }

  /**
   * Verifies the signature, the issuer, the audience and the times of a logout token. Throws
   * `IssuerError`.
   */
  async verifyLogoutToken(token: string, now: number): Promise<JWTVerifyResult> {
    const deadline = this.#deadline()
    try {
      const keyId = keyIdOf(token)
      const metadata = await this.#knownMetadata()
      const keys = await this.#keys.withKey(keyId, () => this.#fetchKeys(metadata, deadline))
      const { issuer, clientId, skewSeconds } = this.#settings
      return await jwtVerify(token, createLocalJWKSet(keys as Parameters<typeof createLocalJWKSet>[0]), {
        algorithms: ALGORITHMS,
        issuer,
        audience: clientId,
        clockTolerance: skewSeconds,
        currentDate: new Date(now),
      })
    } catch (error) {
      throw logoutErrorOf(error)
    }
  }

  /** Address at which the issuer ends its own session; null if it has none. */
  endSessionUrl(): string | null {
    const endpoint = this.#metadata?.value.end_session_endpoint
    if (endpoint === undefined || !this.#requests.isAllowed(endpoint)) return null
    const url = new URL(endpoint)
    url.searchParams.set('client_id', this.#settings.clientId)
    return url.href
  }

  #requirePast({ iat }: client.IDToken): void {
    // The library does not compare this time. Issuers are known whose `iat` is minutes in the past.
    if (iat > Date.now() / 1_000 + this.#settings.skewSeconds) {
      throw new IssuerError('failed', 'the ID token was issued in the future')
    }
  }

  #deadline(): number {
    return this.#elapsedMs() + ISSUER_MS_MAX
  }

  /** The metadata, which is fetched once per hour. Concurrent callers share a request. */
  #knownMetadata(): Promise<client.ServerMetadata> {
    const known = this.#metadata
    if (known !== null && this.#elapsedMs() - known.fetchedAt < METADATA_MS)
      return Promise.resolve(known.value)
    this.#fetching ??= this.#fetchMetadata().finally(() => {
      this.#fetching = null
    })
    return this.#fetching
  }

  async #fetchMetadata(): Promise<client.ServerMetadata> {
    const { issuer, clientId } = this.#settings
    const address = new URL(issuer)
    const deadline = this.#deadline()
    try {
      const config = await client.discovery(address, clientId, undefined, undefined, {
        [client.customFetch]: (url, request) => this.#requests.send(url, request, deadline),
        execute: address.protocol === 'http:' ? [client.allowInsecureRequests] : [],
      })
      const { supportsPKCE: _ofLibrary, ...metadata } = config.serverMetadata()
      if (metadata.issuer !== issuer) throw new IssuerError('failed', 'the metadata names another issuer')
      // The library would otherwise accept only the algorithms that the issuer lists.
      const value = { ...metadata, id_token_signing_alg_values_supported: ALGORITHMS }
      this.#metadata = { value, fetchedAt: this.#elapsedMs() }
      return value
    } catch (error) {
      throw new IssuerError('unavailable', issuerErrorOf(error).reason)
    }
  }

  /**
   * Configuration for one sign-in. The library caches keys per configuration, so that a new one uses the keys
   * of `IssuerKeys`.
   */
  #configuration(metadata: client.ServerMetadata, deadline: number): client.Configuration {
    const { issuer, clientId, clientSecret, skewSeconds } = this.#settings
    const authentication = clientAuthentication(metadata, clientSecret)
    const times = { [client.clockTolerance]: skewSeconds }
    const config = new client.Configuration(metadata, clientId, times, authentication)
    if (new URL(issuer).protocol === 'http:') client.allowInsecureRequests(config)
    // Without this call, the library does not verify the signature of an ID token.
    client.enableNonRepudiationChecks(config)
    const keysAddress = URL.parse(metadata.jwks_uri ?? '')?.href
    let keyId: unknown
    config[client.customFetch] = async (url, request) => {
      if (url === keysAddress) {
        const fetchKeys = () => this.#requests.send(url, request, deadline)
        return keysResponse(await this.#keys.withKey(keyId, fetchKeys))
      }
      const response = await this.#requests.send(url, request, deadline)
      if (request.method === 'POST') keyId = await keyIdIn(response.clone())
      return response
    }
    return config
  }

  #fetchKeys({ jwks_uri: address = '' }: client.ServerMetadata, deadline: number): Promise<Response> {
    const request: IssuerRequest = { method: 'GET', headers: { accept: 'application/json' } }
    return this.#requests.send(address, request, deadline)
  }
}

function fail(error: unknown): never {
  throw issuerErrorOf(error)
}

/** Id of the key in the header of a logout token. */
function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid
  } catch {
    throw new IssuerError('failed', NOT_SIGNED)
  }
}

function keysResponse(keys: KeySet): Response {
  return Response.json(keys)
}

/** Key id of the ID token in a response of the token endpoint. */
async function keyIdIn(response: Response): Promise<unknown> {
  try {
    const { id_token: token } = (await response.json()) as { readonly id_token?: unknown }
    const [head] = String(token).split('.')
    return (JSON.parse(Buffer.from(head!, 'base64url').toString()) as { readonly kid?: unknown }).kid
  } catch {
    return undefined
  }
}

/**
 * Authentication of the client at the token endpoint. Without a secret, only PKCE protects the exchange. The
 * secret is sent in the form that RFC 6749 prefers, unless the issuer supports only the other one.
 */
function clientAuthentication(
  { token_endpoint_auth_methods_supported: methods }: client.ServerMetadata,
  secret: string | null,
): client.ClientAuth {
  if (secret === null) return client.None()
  const isBasic = methods === undefined || methods.includes('client_secret_basic')
  if (!isBasic && methods.includes('client_secret_post')) return client.ClientSecretPost(secret)
  return (_server, { client_id: id }, _body, headers) => {
    // The library would also encode `-`, `_`, `.` and `~`, which some issuers do not decode.
    const credentials = [id, secret].map(part => encodeURIComponent(part).replaceAll('%20', '+')).join(':')
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`)
  }
}
