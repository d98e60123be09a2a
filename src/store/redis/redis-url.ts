/**
 * What a Redis store URL says: `redis://[user:password@]host[:port][/database][?prefix=NAME]`, `rediss://…` with TLS.
 * The prefix begins every key, so that several installations may share one server; default `verdict`.
 *
 * Messages never carry the URL: it may hold a password.
 */
import { AuthzError } from '#model/errors.ts'

export interface RedisAddress {
  readonly scheme: 'redis' | 'rediss'
  readonly host: string
  readonly port: number
  readonly database: number
  readonly username: string | null
  readonly password: string | null
  readonly prefix: string
}

export function isRedisUrl(url: string): boolean {
  return /^rediss?:/.test(url)
}

/** Throws `INVALID_INPUT` naming the part that does not fit. */
export function parseRedisUrl(text: string): RedisAddress {
  const url = URL.parse(text)
  if (!url || !isRedisUrl(text) || url.hostname === '') {
    throw refusal('expected redis://[user:password@]host[:port][/database]')
  }
  const database = url.pathname.slice(1)
  if (!/^\d{0,5}$/.test(database)) throw refusal('the path is the number of a database, or nothing')
  const { prefix = 'verdict', ...others } = Object.fromEntries(url.searchParams)
  if (Object.keys(others).length > 0) throw refusal('the only parameter is prefix')
  // Braces would be taken for a hash tag, and colons separate the parts of our keys.
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(prefix))
    throw refusal('prefix is 1 to 64 letters, digits, dots, _ and -')
  return {
    scheme: url.protocol === 'rediss:' ? 'rediss' : 'redis',
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 6379 : Number(url.port),
    database: Number(database),
    username: url.username === '' ? null : decodeURIComponent(url.username),
    password: url.password === '' ? null : decodeURIComponent(url.password),
    prefix,
  }
}

function refusal(reason: string): AuthzError {
  return new AuthzError('INVALID_INPUT', `the Redis store URL: ${reason}`)
}
