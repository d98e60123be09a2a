/**
 * Page tokens of searches. A token contains the position of the next page and is bound to the request that it
 * continues. Tokens need no state on the server: every node that has the token secret of the store can read
 * them, even after a restart.
 *
 *     base64url( MAC 16 │ digest of the request 16 │ JSON [limit, after] )
 *
 * The MAC (truncated HMAC-SHA256) protects the rest of the token. The token contains no information that its
 * client does not have: `after` is the last key of the page that was returned with the token.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { AuthzError } from '#model/errors.ts'
import { isObject } from '#model/json-object.ts'

const MAC_BYTES = 16
const DIGEST_BYTES = 16

export interface PagePosition {
  /** Page size, which is the same for all pages of a search. */
  readonly limit: number
  /** Last key of the previous page; null for the first page. */
  readonly after: string | null
}

export class PageTokens {
  readonly #secret: Buffer

  constructor(secret: Buffer) {
    this.#secret = secret
  }

  /**
   * Creates a token. `request`: all parts of the request that determine its results, except the requested
   * page.
   */
  issue(request: readonly unknown[], position: PagePosition): string {
    const body = Buffer.concat([
      digestOf(request),
      Buffer.from(JSON.stringify([position.limit, position.after])),
    ])
    return Buffer.concat([this.#mac(body), body]).toString('base64url')
  }

  /** Returns the position in a token. Throws `INVALID_INPUT` unless the token was issued for this request. */
  read(request: readonly unknown[], token: string): PagePosition {
    const bytes = Buffer.from(token, 'base64url')
    const body = bytes.subarray(MAC_BYTES)
    const isOurs =
      bytes.length > MAC_BYTES + DIGEST_BYTES &&
      bytes.toString('base64url') === token &&
      timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(body))
    if (!isOurs)
      throw new AuthzError('INVALID_INPUT', 'page.token: must be the next_token of a previous response')
    if (!digestOf(request).equals(body.subarray(0, DIGEST_BYTES))) {
      throw new AuthzError(
        'INVALID_INPUT',
        'page.token: belongs to another request; send the token with the same request',
      )
    }
    const [limit, after] = JSON.parse(body.subarray(DIGEST_BYTES).toString()) as [number, string | null]
    return { limit, after }
  }

  #mac(body: Buffer): Buffer {
    return createHmac('sha256', this.#secret).update(body).digest().subarray(0, MAC_BYTES)
  }
}

function digestOf(request: readonly unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(request, sortMembers)).digest().subarray(0, DIGEST_BYTES)
}

/** Sorts the members of objects, so that two requests that differ only in this order have the same digest. */
function sortMembers(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value
  const sorted = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(sorted)
}
