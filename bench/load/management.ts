/**
 * Client of the management API for the load test. If a request fails, throws the error message of the
 * service.
 */

export interface Answer {
  readonly status: number
  readonly text: string
  /** Value for the header `X-Min-Revision`. Empty if nothing was changed. */
  readonly revision: string
}

export class Management {
  readonly #address: string
  readonly #key: string

  constructor(address: string, key: string) {
    this.#address = address
    this.#key = key
  }

  headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...more }
  }

  async ask(
    method: string,
    path: string,
    { body, minRevision }: { readonly body?: string; readonly minRevision?: string } = {},
  ): Promise<Answer> {
    const headers = this.headers(minRevision === undefined ? {} : { 'x-min-revision': minRevision })
    const response = await fetch(`${this.#address}${path}`, { method, headers, ...(body && { body }) }).catch(
      (error: Error) => {
        throw new Error(`${this.#address} cannot be reached: ${String(error.cause ?? error)}`)
      },
    )
    const { status } = response
    return { status, text: await response.text(), revision: response.headers.get('x-revision') ?? '' }
  }

  /** Sends a request. Returns the JSON body and the revision. Throws if the request fails. */
  async send<Body>(method: string, path: string, body?: unknown): Promise<{ body: Body; revision: string }> {
    const { status, text, revision } = await this.ask(
      method,
      path,
      body === undefined ? {} : { body: JSON.stringify(body) },
    )
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return { body: (text === '' ? undefined : JSON.parse(text)) as Body, revision }
  }
}
