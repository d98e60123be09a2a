/** A browser in tests: it keeps cookies as a browser does, and sends requests as the console does. */
import type { ForgingIssuer } from '#testing/issuer/forging-issuer.ts'

export const PUBLIC_URL = 'https://verdict.example.com'
export const SIGN_IN = '/v2/sign-in'
export const SESSION_COOKIE = '__Host-verdict-session'
export const SIGN_IN_COOKIE = '__Host-verdict-sign-in-'

type Headers_ = Readonly<Record<string, string>>

export class Browser {
  readonly cookies = new Map<string, string>()
  readonly #address: string
  readonly #onSecret: (secret: string) => void

  constructor(address: string, onSecret: (secret: string) => void = () => {}) {
    this.#address = address
    this.#onSecret = onSecret
  }

  async send(method: string, path: string, { body, headers }: { body?: string; headers?: Headers_ } = {}) {
    const cookie = Array.from(this.cookies, pair => pair.join('=')).join('; ')
    const response = await fetch(this.#address + path, {
      method,
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...headers },
      ...(body !== undefined && { body }),
    })
    for (const header of response.headers.getSetCookie()) this.#keep(header)
    const text = await response.text()
    const parsed = text === '' ? null : (JSON.parse(text) as unknown)
    return { status: response.status, headers: response.headers, body: parsed }
  }

  #keep(header: string): void {
    const [pair = '', ...attributes] = header.split('; ')
    const at = pair.indexOf('=')
    if (attributes.includes('Max-Age=0')) this.cookies.delete(pair.slice(0, at))
    else this.cookies.set(pair.slice(0, at), pair.slice(at + 1))
    // The revision at the end of a cookie of a session is no secret.
    if (pair.length > at + 1) this.#onSecret(pair.slice(at + 1, at + 44))
  }

  /** The name of the only cookie. */
  onlyName(): string {
    return [...this.cookies.keys()].join()
  }

  /** Changes the value of the only cookie. */
  change(by: (value: string) => string): void {
    const name = this.onlyName()
    this.cookies.set(name, by(this.cookies.get(name)!))
  }

  /** Begins a sign-in, and repeats a request that exceeds the rate. */
  async beginAnyhow(body: object = {}, headers: Headers_ = {}) {
    for (;;) {
      const answer = await this.send('POST', SIGN_IN, { body: JSON.stringify(body), headers })
      if (answer.status !== 503) return answer
    }
  }

  /** Begins a sign-in and returns the address of the issuer. */
  async begin(body: object = {}, headers: Headers_ = {}): Promise<string> {
    const answer = await this.beginAnyhow(body, headers)
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
    const { location } = answer.body as { readonly location: string }
    for (const name of ['state', 'nonce']) this.#onSecret(new URL(location).searchParams.get(name)!)
    return location
  }

  /** Returns from the issuer with these parameters. Returns the part of the console's address after `#/`. */
  async finish(parameters: Headers_ | string): Promise<string> {
    const query = new URLSearchParams(parameters)
    const code = query.get('code')
    if (code) this.#onSecret(code)
    const answer = await this.send('GET', `${SIGN_IN}/callback?${query}`)
    const location = answer.headers.get('location') ?? ''
    const [page, rest] = location.split('#/')
    if (answer.status !== 303 || page !== `${PUBLIC_URL}/console`) {
      throw new Error(`${answer.status} ${location} ${JSON.stringify(answer.body)}`)
    }
    return rest!
  }

  /** Signs in. */
  async signIn(issuer: ForgingIssuer, body: object = {}): Promise<string> {
    return this.finish(issuer.authorize(await this.begin(body)))
  }
}
