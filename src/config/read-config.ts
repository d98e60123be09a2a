/**
 * Reads the settings from environment variables. All invalid values are reported together, each with its name
 * and the reason. A secret can be read from a file, whose path is in the variable `NAME_FILE`. An unknown
 * variable is ignored, with two exceptions. A name that resembles a setting causes a warning. A name that
 * begins with `VERDICT_` causes an error.
 */
import { AuthzError } from '#model/errors.ts'
import { isExposed } from '#model/sign-in/exposed-url.ts'
import { type Config, settings } from './settings.ts'
import { fileName, secretText, type EnvironmentVariables } from './secret-text.ts'
import type { SettingKind } from './setting-kinds.ts'
import { ONLY_WITH_ISSUER } from './sign-in-settings.ts'

interface ReadOptions {
  /** Called with a sentence for each variable that resembles a setting. */
  readonly onWarning?: (message: string) => void
  /** Throws an `Error` if the settings for the store are not valid. */
  readonly requireStore?: (config: Config) => void
}

const SECRETS = Object.entries<SettingKind<unknown>>(settings).flatMap(([name, { isSecret }]) =>
  isSecret ? [name] : [],
)
const KNOWN = [...Object.keys(settings), ...SECRETS.map(fileName)]

const OWN_PREFIX = 'VERDICT_'
/**
 * Variables that begin with `VERDICT_` although they are not settings. The command line, the start script or
 * tests use them.
 */
const OTHERS_WITH_OWN_PREFIX = [
  'KEY',
  'KEY_FILE',
  'URL',
  'ACTOR',
  'OUTPUT',
  'FORM',
  'STARTED_AGAIN',
  'RUNS',
].map(name => OWN_PREFIX + name)
/**
 * Variables that Kubernetes sets in every container if a Kubernetes service is called `verdict` or
 * `verdict-…`.
 */
const OF_KUBERNETES = /^VERDICT_([A-Z0-9_]+_)?(SERVICE_(HOST|PORT)|PORT)(_|$)/

/** Reads the settings. Throws `INVALID_INPUT` with one line per invalid value. */
export function readConfig(
  environment: EnvironmentVariables,
  { onWarning = () => {}, requireStore }: ReadOptions = {},
): Config {
  const problems: string[] = []
  const config = Object.fromEntries(
    Object.entries<SettingKind<unknown> & { readonly as: string }>(settings).map(([name, row]) => {
      try {
        return [row.as, read(name, row, environment)]
      } catch (error) {
        problems.push(`setting ${name}: ${(error as Error).message}`)
        return [row.as, row.fallback()]
      }
    }),
  ) as Config
  problems.push(...contradictions(config), ...signInContradictions(config, environment))
  for (const name of Object.keys(environment)) {
    const message = strangeness(name)
    if (message === null) continue
    if (name.startsWith(OWN_PREFIX)) problems.push(message)
    else onWarning(message)
  }
  try {
    requireStore?.(config)
  } catch (error) {
    problems.push((error as Error).message)
  }
  if (problems.length > 0) throw new AuthzError('INVALID_INPUT', problems.join('\n'))
  return Object.freeze(config)
}

/** Returns messages about settings that contradict each other. */
function contradictions(config: Config): string[] {
  const found = []
  if (config.apiKey !== null && config.apiKey === config.adminApiKey) {
    found.push('setting ADMIN_API_KEY: must differ from API_KEY')
  }
  if (config.opaPort === config.port) found.push('setting OPA_PORT: must differ from PORT')
  if (config.kongPort !== null && [config.port, config.opaPort].includes(config.kongPort)) {
    found.push('setting KONG_PORT: must differ from PORT and OPA_PORT')
  }
  if ((config.kongPort === null) !== (config.kongEnvironment === null)) {
    found.push('settings KONG_PORT and KONG_ENVIRONMENT: expected both or neither')
  }
  if (config.maxStaleMs > 0 && config.maxStaleMs < config.staleAfterMs) {
    found.push('setting MAX_STALE_MS: expected 0 or at least STALE_AFTER_MS')
  }
  return found
}

/** Returns messages about settings of the sign-in that contradict each other. */
function signInContradictions(config: Config, environment: EnvironmentVariables): string[] {
  if (config.oidcIssuer === null) {
    // The values are not examined: a variable with its default value is also rejected.
    if (environment['OIDC_ISSUER'] !== undefined) return []
    return ONLY_WITH_ISSUER.filter(
      name => environment[name] !== undefined || environment[fileName(name)] !== undefined,
    ).map(name => `setting ${name}: requires OIDC_ISSUER`)
  }
  const found = []
  if (config.oidcClientId === null) found.push('setting OIDC_ISSUER: requires OIDC_CLIENT_ID')
  if (config.publicUrl === null) found.push('setting OIDC_ISSUER: requires PUBLIC_URL')
  else if (isExposed(config.publicUrl)) {
    found.push('setting PUBLIC_URL: with OIDC_ISSUER, expected https, or http with a loopback host')
  }
  if (config.oidcOwnerGroups.length > 0 && config.oidcGroupsClaim === null) {
    found.push('setting OIDC_OWNER_GROUPS: requires OIDC_GROUPS_CLAIM')
  }
  return found
}

function read(name: string, row: SettingKind<unknown>, environment: EnvironmentVariables): unknown {
  const value = row.isSecret ? secretText(name, environment) : environment[name]
  return value === undefined ? row.fallback() : row.parse(value)
}

/** Returns a message about a variable that is not a setting, or null if the variable can be ignored. */
function strangeness(name: string): string | null {
  if (KNOWN.includes(name)) return null
  const isOwn = name.startsWith(OWN_PREFIX)
  if (isOwn && (OTHERS_WITH_OWN_PREFIX.includes(name) || OF_KUBERNETES.test(name))) return null
  const meant = KNOWN.find(known => isNear(isOwn ? name.slice(OWN_PREFIX.length) : name, known))
  if (meant !== undefined) return `${name} is not a setting: did you mean ${meant}?`
  return isOwn ? `${name} is not a setting` : null
}

/**
 * Whether two names differ at only one position. The difference can have up to two letters, or one letter if
 * the known name is short.
 */
function isNear(name: string, known: string): boolean {
  const length = Math.min(name.length, known.length)
  let before = 0
  while (before < length && name[before] === known[before]) before += 1
  let behind = 0
  while (behind < length - before && name.at(-1 - behind) === known.at(-1 - behind)) behind += 1
  return Math.max(name.length, known.length) - before - behind <= (known.length < 8 ? 1 : 2)
}
