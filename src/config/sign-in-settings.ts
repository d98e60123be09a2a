/** Settings of the sign-in of persons at an OpenID Connect issuer. `settings.ts` includes these rows. */
import { isExposed } from '#model/sign-in/exposed-url.ts'
import {
  flag,
  integer,
  nonEmpty,
  parseList,
  parseUrl,
  password,
  setting,
  type SettingKind,
} from './setting-kinds.ts'

const NONE = 'none'

export const signInSettings = {
  OIDC_ISSUER: setting('oidcIssuer', {
    shownDefault: 'off',
    meaning:
      'OpenID Connect issuer at which persons sign in, exactly as its metadata states it; `https`, or `http` with a loopback host. Requires `PUBLIC_URL`',
    parse: parseIssuer,
    fallback: () => null,
  }),
  OIDC_CLIENT_ID: setting('oidcClientId', optional('id of the client at the issuer', nonEmpty)),
  OIDC_CLIENT_SECRET: setting(
    'oidcClientSecret',
    password('secret of the client; without it, the client is a public client (PKCE)'),
  ),
  OIDC_SCOPES: setting('oidcScopes', {
    shownDefault: '`openid profile email`',
    meaning: 'scopes that a sign-in requests; `openid` is required, `offline_access` is rejected',
    parse: parseScopes,
    fallback: () => 'openid profile email',
  }),
  OIDC_GROUPS_CLAIM: setting(
    'oidcGroupsClaim',
    optional(
      'claim with the groups of a person: a name, or a JSON Pointer (`/realm_access/roles`)',
      parseClaim,
    ),
  ),
  OIDC_OWNERS: setting(
    'oidcOwners',
    names('persons with level `admin` on the organization: values of `sub`', parseSubject),
  ),
  OIDC_OWNER_GROUPS: setting(
    'oidcOwnerGroups',
    names('groups whose members have level `admin` on the organization', name => name),
  ),
  OIDC_NAME: setting('oidcName', {
    shownDefault: 'host of the issuer',
    meaning: 'name of the issuer on the sign-in page of the console',
    parse: nonEmpty,
    fallback: () => null,
  }),
  OIDC_CLOCK_SKEW_SECONDS: setting(
    'oidcClockSkewSeconds',
    integer(
      30,
      { min: 0, max: 300 },
      'tolerated difference between the clocks of the issuer and of this node',
    ),
  ),
  SESSION_IDLE_SECONDS: setting(
    'sessionIdleSeconds',
    integer(1_800, { min: 5, max: 86_400 }, 'time without a request after which a session ends, in seconds'),
  ),
  SESSION_MAX_SECONDS: setting(
    'sessionMaxSeconds',
    integer(43_200, { min: 5, max: 604_800 }, 'time after the sign-in at which a session ends, in seconds'),
  ),
  CONSOLE_KEY_SIGN_IN: setting(
    'isKeySignInOffered',
    flag('whether the console offers sign-in with an API key; API requests with keys are not affected', true),
  ),
}

/** Names of the settings that are rejected without `OIDC_ISSUER`. */
export const ONLY_WITH_ISSUER = Object.keys(signInSettings).filter(
  name => name.startsWith('OIDC_') && name !== 'OIDC_ISSUER',
)

function optional(meaning: string, parse: (text: string) => string): SettingKind<string | null> {
  return { shownDefault: NONE, meaning, parse, fallback: () => null }
}

function names(meaning: string, parse: (name: string) => string): SettingKind<readonly string[]> {
  return {
    shownDefault: NONE,
    meaning: `${meaning}, separated by commas; \`%2C\` is a comma in a name`,
    parse: text => parseList(text).map(item => parse(decoded(item))),
    fallback: () => [],
  }
}

function decoded(item: string): string {
  try {
    return decodeURIComponent(item)
  } catch {
    throw new Error(`expected names with % written as %25, got ${JSON.stringify(item)}`)
  }
}

function parseIssuer(text: string): string {
  const issuer = parseUrl(text)
  if (isExposed(issuer)) {
    throw new Error(`expected https, or http with a loopback host, got ${JSON.stringify(text)}`)
  }
  return issuer
}

function parseScopes(text: string): string {
  const scopes = text.split(' ')
  if (!scopes.every(scope => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))) {
    throw new Error(`expected scopes separated by single spaces, got ${JSON.stringify(text)}`)
  }
  if (!scopes.includes('openid')) throw new Error('expected openid among the scopes')
  if (scopes.includes('offline_access')) {
    throw new Error('expected scopes without offline_access, because the service stores no tokens')
  }
  return text
}

function parseClaim(text: string): string {
  if (text === '' || (text.startsWith('/') && /~(?![01])/.test(text))) {
    throw new Error(`expected a claim, or a JSON Pointer that begins with /, got ${JSON.stringify(text)}`)
  }
  return text
}

function parseSubject(text: string): string {
  if (!/^\p{ASCII}{1,255}$/u.test(text)) {
    throw new Error(`expected subjects of 1 to 255 ASCII characters, got ${JSON.stringify(text)}`)
  }
  return text
}
