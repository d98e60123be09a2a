/**
 * The open environments of a store. Each environment is opened once, regardless of the number of requests.
 * All environments are closed together.
 */
import { AuthzError } from '#model/errors.ts'
import type { BeginOptions } from '#store/store.ts'
import { storeClosed } from '#store/store-closed-error.ts'

const ENVIRONMENT_ID = /^[a-z0-9-]{1,64}$/

export class EnvironmentSet<Opened> {
  readonly #open: (id: string, options: BeginOptions) => Promise<Opened>
  readonly #environments = new Map<string, Promise<Opened>>()
  #isClosed = false

  constructor(open: (id: string, options: BeginOptions) => Promise<Opened>) {
    this.#open = open
  }

  /**
   * Throws `STORE_CLOSED` after `close`, `INVALID_INPUT` for an id that is not a plain name, and the errors
   * of opening.
   */
  async get(id: string, options: BeginOptions = {}): Promise<Opened> {
    this.#check(id)
    const existing = this.#environments.get(id)
    if (existing) return existing
    const opening = this.#open(id, options)
    this.#environments.set(id, opening)
    // If an environment could not be opened, a later request can try again.
    opening.catch(() => this.#environments.delete(id))
    return opening
  }

  /**
   * Removes an environment from the set and returns it, so that the next request opens it again. Returns null
   * if it is not open. Throws like `get`.
   */
  async take(id: string): Promise<Opened | null> {
    this.#check(id)
    const opening = this.#environments.get(id)
    const opened = (await opening?.catch(() => null)) ?? null
    if (this.#environments.get(id) === opening) this.#environments.delete(id)
    return opened
  }

  /** Opens no more environments, waits for those that are being opened, and returns all open ones. */
  async close(): Promise<Opened[]> {
    this.#isClosed = true
    const opened = await Promise.allSettled(this.#environments.values())
    return opened.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
  }

  /** Checks an id, because ids become parts of file names and keys. */
  #check(id: string): void {
    if (this.#isClosed) throw storeClosed()
    if (ENVIRONMENT_ID.test(id)) return
    const expected = '1 to 64 lower-case letters, digits and hyphens'
    throw new AuthzError('INVALID_INPUT', `an environment id is ${expected}, not ${JSON.stringify(id)}`)
  }
}
