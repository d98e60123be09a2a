/**
 * Parses Redis store URLs; `rediss` instead of `redis` selects TLS:
 *
 *     redis://[user:password@]host[:port][/database][?prefix=NAME]
 *     redis+sentinel://[user:password@]host[:port],…[/database]
 *                      [?master=NAME&sentinel_user=…&sentinel_password=…&prefix=NAME]
 *     redis+cluster://[user:password@]host[:port],…[?prefix=NAME]
 *
 * User and password are for the servers that keep data. The hosts of a Sentinel URL are sentinels, and those
 * of a cluster URL are some of its nodes. All keys begin with the prefix, so that several installations can
 * share one server. The default prefix is `verdict`.
 *
 * Messages never contain the URL, because it can contain a password.
 */
import { hash } from 'node:crypto'
import { AuthzError } from '#model/errors.ts'

export interface RedisHost {
  readonly host: string
  readonly port: number
}

export interface Login {
  readonly username: string | null
  readonly password: string | null
}

interface EveryRedisAddress {
  readonly isEncrypted: boolean
  readonly login: Login
  readonly prefix: string
}

export interface SingleAddress extends EveryRedisAddress {
  readonly topology: 'single'
  readonly host: RedisHost
  readonly database: number
}

export interface SentinelAddress extends EveryRedisAddress {
  readonly topology: 'sentinel'
  readonly sentinels: readonly RedisHost[]
  /** Name that the sentinels use for the primary. */
  readonly master: string
  readonly sentinelLogin: Login
  readonly database: number
}

export interface ClusterAddress extends EveryRedisAddress {
  readonly topology: 'cluster'
  readonly nodes: readonly RedisHost[]
}

export type RedisAddress = SingleAddress | SentinelAddress | ClusterAddress

const URL_FORM =
  /^rediss?(?:\+(?<topology>sentinel|cluster))?:\/\/(?:(?<login>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/
const PORTS = { single: 6_379, sentinel: 26_379, cluster: 6_379 } as const
const PARAMETERS = {
  single: ['prefix'],
  sentinel: ['prefix', 'master', 'sentinel_user', 'sentinel_password'],
  cluster: ['prefix'],
} as const

export function isRedisUrl(url: string): boolean {
  return /^rediss?(\+sentinel|\+cluster)?:/.test(url)
}

/** Parses a URL. Throws `INVALID_INPUT` with the name of the invalid part. */
export function parseRedisUrl(text: string): RedisAddress {
  const parts = URL_FORM.exec(text)?.groups
  if (!parts) throw refusal('expected redis://[user:password@]host[:port][/database]')
  const topology = (parts['topology'] as 'sentinel' | 'cluster' | undefined) ?? 'single'
  const hosts = parts['hosts']!.split(',').map(host => parseHost(host, PORTS[topology]))
  const [first] = hosts as [RedisHost, ...RedisHost[]]
  const parameters = parseParameters(parts['query'] ?? '', PARAMETERS[topology])
  const every = {
    isEncrypted: text.startsWith('rediss'),
    login: parseLogin(parts['login'] ?? ''),
    prefix: parsePrefix(parameters.get('prefix') ?? 'verdict'),
  }
  const database = parseDatabase(parts['path'] ?? '')
  switch (topology) {
    case 'single':
      if (hosts.length > 1) throw refusal('several hosts require redis+sentinel:// or redis+cluster://')
      return { ...every, topology, host: first, database }
    case 'sentinel': {
      const username = parameters.get('sentinel_user') ?? null
      const sentinelLogin = { username, password: parameters.get('sentinel_password') ?? null }
      const master = parameters.get('master') ?? 'mymaster'
      if (master === '')
        throw refusal('master must be the name that the sentinels use, and must not be empty')
      return { ...every, topology, sentinels: hosts, master, sentinelLogin, database }
    }
    case 'cluster':
      if (database !== 0) throw refusal('a cluster has only database 0')
      return { ...every, topology, nodes: hosts }
  }
}

/** Passwords that are given separately from the URL. */
export interface RedisPasswords {
  readonly password?: string | null
  readonly sentinelPassword?: string | null
}

/**
 * Returns the address with these passwords. Throws `INVALID_INPUT` if the URL already contains such a
 * password, or if its topology does not use this password.
 */
export function withPasswords(
  address: RedisAddress,
  { password = null, sentinelPassword = null }: RedisPasswords,
): RedisAddress {
  const { login } = address
  if (password !== null && login.password !== null) {
    throw refusal('the password is also set in REDIS_PASSWORD; set only one of them')
  }
  const main = { login: { ...login, password: password ?? login.password } }
  if (address.topology !== 'sentinel') {
    if (sentinelPassword !== null) throw refusal('REDIS_SENTINEL_PASSWORD requires redis+sentinel://')
    return { ...address, ...main }
  }
  const { sentinelLogin } = address
  if (sentinelPassword !== null && sentinelLogin.password !== null) {
    throw refusal('the sentinel_password is also set in REDIS_SENTINEL_PASSWORD; set only one of them')
  }
  return {
    ...address,
    ...main,
    sentinelLogin: { ...sentinelLogin, password: sentinelPassword ?? sentinelLogin.password },
  }
}

function parseHost(text: string, defaultPort: number): RedisHost {
  const url = URL.parse(`redis://${text}`)
  if (!url || url.hostname === '' || url.username !== '') throw refusal('a host must be a name or an address')
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPort : Number(url.port),
  }
}

function parseLogin(text: string): Login {
  const colon = text.indexOf(':')
  const [username, password] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
  return { username: decoded(username), password: decoded(password) }
}

function decoded(text: string): string | null {
  try {
    return text === '' ? null : decodeURIComponent(text)
  } catch {
    throw refusal('user or password contains a % that is not a valid escape')
  }
}

function parseDatabase(text: string): number {
  if (!/^\d{0,5}$/.test(text)) throw refusal('the path must be empty or the number of a database')
  return Number(text)
}

function parseParameters(query: string, known: readonly string[]): URLSearchParams {
  const parameters = new URLSearchParams(query)
  if ([...parameters.keys()].some(name => !known.includes(name))) {
    const which =
      known.length === 1 ? `the only parameter is ${known[0]}` : `parameters are ${known.join(', ')}`
    throw refusal(which)
  }
  return parameters
}

/** Braces would count as a hash tag, and colons separate the parts of the keys. */
function parsePrefix(text: string): string {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(text)) return text
  throw refusal('prefix must be 1 to 64 letters, digits, dots, _ and -')
}

function refusal(reason: string): AuthzError {
  return new AuthzError('INVALID_INPUT', `the Redis store URL: ${reason}`)
}

/** Identifies the servers and keys of an address, without the credentials. */
export function placeName({ login: _login, ...place }: RedisAddress): string {
  const named = place.topology === 'sentinel' ? { ...place, sentinelLogin: null } : place
  return hash('sha256', JSON.stringify(named), 'hex').slice(0, 32)
}
