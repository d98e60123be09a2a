/**
 * Content that does not change while the process runs. Each thread loads it at the first request and
 * compresses it asynchronously, so that decisions are not delayed. Clients can cache the content but must
 * revalidate it. If it is unchanged, they get a response without a body.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Call, RawBytes, type Reply } from '#http/message/request-reply.ts'
import { isSameTag, strongTag } from '#model/entity-tag.ts'

interface Variant {
  readonly bytes: Uint8Array
  /** Strong entity tag, which identifies the exact bytes. */
  readonly etag: string
}

interface Variants {
  readonly plain: Variant
  readonly gzipped: Variant
}

const compress = promisify(gzip)

export class StaticContent {
  readonly #load: () => Promise<Uint8Array> | Uint8Array
  readonly #headers: Readonly<Record<string, string>>
  #variants: Promise<Variants> | null = null

  /** `load` is called once, at the first request. If it fails, the next request calls it again. */
  constructor(contentType: string, load: () => Promise<Uint8Array> | Uint8Array, headers = {}) {
    this.#load = load
    this.#headers = {
      'content-type': contentType,
      'Cache-Control': 'no-cache, no-transform',
      Vary: 'Accept-Encoding',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    }
  }

  /** Response to a GET: 200 with the content, or 304. */
  async reply({ headers }: Pick<Call, 'headers'>): Promise<Reply> {
    this.#variants ??= this.#makeVariants().catch((error: unknown) => {
      this.#variants = null
      throw error
    })
    const { plain, gzipped } = await this.#variants
    const isGzipped = acceptsGzip(headers.get('accept-encoding') ?? '')
    const { bytes, etag } = isGzipped ? gzipped : plain
    const described = { ...this.#headers, ETag: etag }
    if (isCurrent(headers.get('if-none-match') ?? '', etag)) {
      return { status: 304, body: undefined, headers: described }
    }
    const encoding = isGzipped ? { 'Content-Encoding': 'gzip' } : {}
    return { status: 200, body: new RawBytes(bytes), headers: { ...described, ...encoding } }
  }

  async #makeVariants(): Promise<Variants> {
    const bytes = await this.#load()
    return { plain: variantOf(bytes), gzipped: variantOf(await compress(bytes)) }
  }
}

function variantOf(bytes: Uint8Array): Variant {
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

/** Whether an `Accept-Encoding` header contains `gzip` or `*` with a weight other than 0. */
function acceptsGzip(accepted: string): boolean {
  return accepted.split(',').some(part => {
    const [name, ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
    const isRefused = parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter))
    return (name === 'gzip' || name === '*') && !isRefused
  })
}

/**
 * Whether an `If-None-Match` header contains the tag of this content, possibly in a form that a proxy has
 * modified.
 */
function isCurrent(ifNoneMatch: string, etag: string): boolean {
  const tags = ifNoneMatch.split(',').map(tag => strongTag(tag.trim()))
  return tags.some(tag => tag === '*' || isSameTag(tag, etag))
}
