/**
 * Client of the management API for the load test. Throws the error message of the service if a request fails.
 */

export interface Answer {
  readonly status: number
  readonly text: string
  /** For the header `X-Min-Revision`; empty if nothing was changed. */
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

  /** Throws unless the request succeeds. Returns the JSON body and the revision. */
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
