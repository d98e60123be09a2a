/** Settings from variables and files, rejected values, and warnings about misspelled names. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { settings } from '#config/settings.ts'
import { readConfig } from '#config/read-config.ts'
import { requireStoreUrl } from '#store/open/open-store.ts'
import { API_KEY, storeDirectory } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

const START = fileURLToPath(new URL('../../src/start.js', import.meta.url))

function secretFile(content: string): string {
  const file = join(storeDirectory(), 'secret')
  writeFileSync(file, content)
  return file
}

function warningsOf(environment: Readonly<Record<string, string>>): string[] {
  const warnings: string[] = []
  readConfig(environment, { onWarning: message => warnings.push(message) })
  return warnings
}

describe('a secret', () => {
  test.each([
    ['API_KEY', 'apiKey'],
    ['ADMIN_API_KEY', 'adminApiKey'],
    ['METRICS_TOKEN', 'metricsToken'],
    ['STORE_URL', 'storeUrl'],
    ['REDIS_PASSWORD', 'redisPassword'],
    ['REDIS_SENTINEL_PASSWORD', 'redisSentinelPassword'],
  ] as const)('%s can be read from a file, with or without a line break at the end', (name, field) => {
    for (const end of ['', '\n', '\r\n']) {
      expect(readConfig({ [`${name}_FILE`]: secretFile(`redis://of-many-letters${end}`) })[field]).toBe(
        'redis://of-many-letters',
      )
    }
  })

  test('is rejected without being printed if it is given twice, its file is missing, or it has the wrong form', () => {
    const file = secretFile('hunter2\n')
    expect(() => readConfig({ API_KEY, API_KEY_FILE: file })).toThrow(
      'setting API_KEY: API_KEY_FILE is also set; set only one of them',
    )
    // A variable that is set but empty does not count as a second value.
    expect(readConfig({ STORE_URL: '', STORE_URL_FILE: secretFile('memory:') }).storeUrl).toBe('memory:')
    expect(() => readConfig({ API_KEY_FILE: '/nowhere/at/all' })).toThrow(
      'setting API_KEY: API_KEY_FILE cannot be read: ENOENT',
    )
    const refused = () => readConfig({ API_KEY_FILE: file })
    expect(refused).toThrow('setting API_KEY: expected 16 to 512')
    expect(refused).not.toThrow('hunter2')
  })

  test('is the only kind of setting with a variant for a file', () => {
    expect(() => readConfig({ PORT_FILE: '/nowhere/at/all' })).not.toThrow()
  })
})

describe('the endpoint for traces', () => {
  test('is a URL, and an unset or empty value disables traces', () => {
    const endpointOf = (text: string) => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: text }).otlpEndpoint
    expect(readConfig({}).otlpEndpoint).toBe(null)
    expect(endpointOf('')).toBe(null)
    expect(endpointOf('http://127.0.0.1:4318')).toBe('http://127.0.0.1:4318')
    expect(() => endpointOf('127.0.0.1:4318')).toThrow('setting OTEL_EXPORTER_OTLP_ENDPOINT: expected')
  })

  test('can have headers, including from a file', () => {
    const headers = 'authorization=Bearer%20a=b,x-scope=c'
    expect(readConfig({ OTEL_EXPORTER_OTLP_HEADERS: headers }).otlpHeaders).toBe(headers)
    expect(readConfig({ OTEL_EXPORTER_OTLP_HEADERS_FILE: secretFile(`${headers}\n`) }).otlpHeaders).toBe(
      headers,
    )
  })

  test.each(['hunter2', 'a=', 'a=hunter2,', 'a b=hunter2', 'a=hunter2\r\nx: y', 'a=hunter2%', '=hunter2'])(
    'rejects invalid headers without printing them: %j',
    text => {
      const refused = () => readConfig({ OTEL_EXPORTER_OTLP_HEADERS: text })
      expect(refused).toThrow('setting OTEL_EXPORTER_OTLP_HEADERS: expected name=value')
      expect(refused).not.toThrow('hunter2')
    },
  )

  test.each(['0', '1.5', 'half'])('rejects the ratio %s of sampled traces', text => {
    expect(() => readConfig({ OTEL_TRACES_SAMPLER_ARG: text })).toThrow('setting OTEL_TRACES_SAMPLER_ARG')
  })
})

describe('the password of Redis in a separate setting', () => {
  const login = { redisPassword: 'a', redisSentinelPassword: 'b' }
  test.each([
    ['redis://user:secret@there', { redisPassword: 'a' }, 'the password is also set in REDIS_PASSWORD'],
    [
      'redis+sentinel://there?sentinel_password=c',
      login,
      'the sentinel_password is also set in REDIS_SENTINEL_PASSWORD',
    ],
    ['redis://there', login, 'REDIS_SENTINEL_PASSWORD requires redis+sentinel://'],
    ['lmdb:./data', { redisPassword: 'a' }, 'REDIS_PASSWORD is set, but STORE_URL is not a Redis URL'],
    [
      'memory:',
      { redisSentinelPassword: 'a' },
      'REDIS_SENTINEL_PASSWORD is set, but STORE_URL is not a Redis URL',
    ],
  ])('is rejected with the store URL %s', (url, passwords, message) => {
    expect(() => requireStoreUrl(url, passwords)).toThrow(message)
    expect(() => requireStoreUrl(url, passwords)).not.toThrow(/secret|'[abc]'/)
  })

  test.each(['redis://there', 'redis://user@there', 'redis+sentinel://user@there', 'rediss+cluster://there'])(
    'is used with the store URL %s',
    url => expect(() => requireStoreUrl(url, { redisPassword: 'a' })).not.toThrow(),
  )
})

describe('an unknown variable', () => {
  test.each([
    ['HTTP_THREAD', 'HTTP_THREADS'],
    ['HTTP_THRAEDS', 'HTTP_THREADS'],
    ['API_KEYS', 'API_KEY'],
    ['API_KEY_FIEL', 'API_KEY_FILE'],
    ['MAX_BODY_BYTE', 'MAX_BODY_BYTES'],
    ['PROT_', null],
    ['HOSTNAME', null],
    ['PATH', null],
    ['LOG_FORMAT', null],
    ['npm_config_registry', null],
  ])('such as %s causes a warning that suggests %s', (name, meant) => {
    expect(warningsOf({ [name]: 'x' })).toEqual(
      meant === null ? [] : [`${name} is not a setting: did you mean ${meant}?`],
    )
  })

  test.each([
    ['VERDICT_API_KEY', 'VERDICT_API_KEY is not a setting: did you mean API_KEY?'],
    ['VERDICT_POTR', 'VERDICT_POTR is not a setting'],
    ['VERDICT_', 'VERDICT_ is not a setting'],
  ])('such as %s that can only be intended for Verdict is rejected', (name, message) => {
    expect(() => readConfig({ [name]: 'x' })).toThrow(message)
  })

  test.each([
    'VERDICT_KEY',
    'VERDICT_KEY_FILE',
    'VERDICT_URL',
    'VERDICT_ACTOR',
    'VERDICT_OUTPUT',
    'VERDICT_FORM',
    // Kubernetes sets these variables if a service in the namespace is named verdict or verdict-http.
    'VERDICT_SERVICE_HOST',
    'VERDICT_SERVICE_PORT_HTTP',
    'VERDICT_PORT',
    'VERDICT_PORT_7766_TCP_ADDR',
    'VERDICT_HTTP_SERVICE_HOST',
    'VERDICT_HTTP_PORT_7766_TCP',
  ])('such as %s that belongs to another program causes no warning', name => {
    expect(warningsOf({ [name]: 'x' })).toEqual([])
  })
})

test.each([
  ['an empty host', { HOST: '' }, 'setting HOST'],
  ['a short key', { API_KEY: 'short' }, 'setting API_KEY: expected 16 to 512'],
  [
    'one key for both',
    { API_KEY, ADMIN_API_KEY: API_KEY },
    'setting ADMIN_API_KEY: must differ from API_KEY',
  ],
  ['one port for both', { PORT: '8181', OPA_PORT: '8181' }, 'setting OPA_PORT: must differ from PORT'],
  [
    'a maximum staleness below the warning threshold',
    { STALE_AFTER_MS: '5000', MAX_STALE_MS: '4999' },
    'setting MAX_STALE_MS: expected 0 or at least STALE_AFTER_MS',
  ],
  ['a maximum body size of zero', { MAX_BODY_BYTES: '0' }, 'setting MAX_BODY_BYTES'],
  ['a maximum header size below any request', { MAX_HEADER_BYTES: '1023' }, 'setting MAX_HEADER_BYTES'],
  ['an unknown log level', { LOG_LEVEL: 'loud' }, 'setting LOG_LEVEL: expected one of'],
])('%s is rejected', (_, environment, message) => {
  expect(() => readConfig(environment)).toThrow(message)
})

test('one log line reports all invalid settings, including the store URL', async () => {
  const env = {
    PORT: 'http',
    API_KEY: 'short',
    MAX_STALE_MS: '1',
    HTTP_THREAD: '2',
    VERDICT_THREADS: '2',
    STORE_URL: 'postgres://nowhere',
  }
  const service = new ServiceProcess({ cwd: storeDirectory(), env })
  expect(await service.exited).toBe(1)
  const { msg } = JSON.parse(service.stderr) as { readonly msg: string }
  expect(msg.split('\n')).toEqual([
    'setting PORT: expected an integer from 0 to 65535, got "http"',
    'setting API_KEY: expected 16 to 512 printable ASCII characters without spaces',
    'setting MAX_STALE_MS: expected 0 or at least STALE_AFTER_MS',
    'VERDICT_THREADS is not a setting',
    expect.stringMatching(/^STORE_URL must be .* not postgres:…$/),
  ])
})

test('a misspelled setting causes a warning in the log of a service that starts', async () => {
  const env = { API_KEY, STORE_URL: 'memory:', HTTP_THREADS: '1', POOL_THREAD: '1' }
  const service = new ServiceProcess({ cwd: storeDirectory(), env })
  onTestFinished(async () => void (await service.end('SIGKILL')))
  await service.logMatch(/"level":40,.*POOL_THREAD is not a setting: did you mean POOL_THREADS\?/)
  await service.address()
})

describe('on a terminal', () => {
  const inTerminal = (env: Readonly<Record<string, string>>): string => {
    const command = `${process.execPath} --disable-warning=ExperimentalWarning ${START}`
    const script = ['--quiet', '--return', '--command', command, '/dev/null']
    const cwd = storeDirectory()
    return spawnSync('script', script, { cwd, encoding: 'utf8', env: { PATH: process.env['PATH'], ...env } })
      .stdout
  }

  test('startup errors are printed as sentences, not as JSON', () => {
    expect(inTerminal({ PORT: 'http', API_KEY: 'short' }).replaceAll('\r', '')).toBe(
      'verdict: setting PORT: expected an integer from 0 to 65535, got "http"\n' +
        'verdict: setting API_KEY: expected 16 to 512 printable ASCII characters without spaces\n',
    )
    expect(inTerminal({ STORE_URL: 'lmdb:/proc/nowhere' })).toMatch(
      /^verdict: cannot start: the data directory \/proc\/nowhere cannot be created: .*\r?\n$/,
    )
  })
})

describe('the command-line arguments', () => {
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { encoding: 'utf8' })

  test.each([[[START]], [[fileURLToPath(new URL('../../bin/verdict.js', import.meta.url)), 'serve']]])(
    'include --help, which prints every setting with its default and description',
    start => {
      const { status, stdout } = run(...start, '--help')
      expect(status).toBe(0)
      for (const name of Object.keys(settings))
        expect(stdout).toMatch(new RegExp(`^  ${name}  \\(.+\\)\\n    \\S`, 'm'))
      expect(stdout).toContain('  PORT  (7766)\n    port to listen on; 0 selects a free port\n')
      expect(stdout).toContain('API_KEY_FILE: path of a file that contains it')
      expect(stdout.split('\n').filter(line => line.length > 100)).toEqual([])
    },
  )

  test('exclude settings, so that an unknown argument is rejected', () => {
    const { status, stderr } = run(START, '--port', '80')
    expect([status, stderr]).toEqual([1, expect.stringContaining('unknown argument --port')])
  })
})

describe('KONG_PORT', () => {
  const asked = { KONG_PORT: '9000', KONG_ENVIRONMENT: 'default/production' }

  test('uses the environment in KONG_ENVIRONMENT', () => {
    expect(readConfig(asked)).toMatchObject({
      kongPort: 9_000,
      kongEnvironment: { project: 'default', environment: 'production' },
    })
  })

  test.each([
    ['without an environment', { KONG_PORT: '9000' }, 'expected both or neither'],
    ['an environment without it', { KONG_ENVIRONMENT: 'default/production' }, 'expected both or neither'],
    ['the port of PORT', { ...asked, PORT: '9000' }, 'must differ from PORT and OPA_PORT'],
    ['the port of OPA_PORT', { ...asked, OPA_PORT: '9000' }, 'must differ from PORT and OPA_PORT'],
    ['only an environment', { ...asked, KONG_ENVIRONMENT: 'production' }, 'expected project/environment'],
    ['three names instead of two', { ...asked, KONG_ENVIRONMENT: 'a/b/c' }, 'expected project/environment'],
  ])('is rejected with an invalid combination of settings: %s', (_what, environment, message) => {
    expect(() => readConfig(environment)).toThrow(message)
  })
})

describe('sign-in', () => {
  const chosen = {
    OIDC_ISSUER: 'https://id.example.com/realms/a/',
    OIDC_CLIENT_ID: 'verdict',
    PUBLIC_URL: 'https://verdict.example.com',
  }

  test('needs an issuer, a client and PUBLIC_URL, and has defaults for the rest', () => {
    expect(readConfig(chosen)).toMatchObject({
      oidcIssuer: chosen.OIDC_ISSUER,
      oidcClientSecret: null,
      oidcScopes: 'openid profile email',
      oidcGroupsClaim: null,
      oidcOwners: [],
      oidcClockSkewSeconds: 30,
      isKeySignInOffered: true,
    })
    expect(readConfig({ CONSOLE_KEY_SIGN_IN: 'false' })).toMatchObject({ oidcIssuer: null })
    const local = { OIDC_ISSUER: 'http://127.0.0.1:9000', PUBLIC_URL: 'http://localhost:7766' }
    expect(readConfig({ ...chosen, ...local }).oidcIssuer).toBe(local.OIDC_ISSUER)
  })

  test('reads names with encoded commas, and the client secret from a file', () => {
    const file = secretFile('hunter2\n')
    const names = { OIDC_OWNERS: 'a%2Cb, auth0|1', OIDC_OWNER_GROUPS: 'r%C3%B6', OIDC_GROUPS_CLAIM: '/a~1b' }
    expect(readConfig({ ...chosen, ...names, OIDC_CLIENT_SECRET_FILE: file })).toMatchObject({
      oidcOwners: ['a,b', 'auth0|1'],
      oidcOwnerGroups: ['rö'],
      oidcGroupsClaim: '/a~1b',
      oidcClientSecret: 'hunter2',
    })
  })

  test.each([
    [{ OIDC_ISSUER: 'http://id.example.com' }, 'OIDC_ISSUER: expected https, or http with a loopback host'],
    [{ OIDC_ISSUER: 'http://127.0.0.1.example.com' }, 'OIDC_ISSUER: expected https'],
    [{ OIDC_ISSUER: 'https://id.example.com?a' }, 'OIDC_ISSUER: expected an http or https URL'],
    [{ OIDC_CLIENT_ID: undefined }, 'OIDC_ISSUER: requires OIDC_CLIENT_ID'],
    [{ PUBLIC_URL: undefined }, 'OIDC_ISSUER: requires PUBLIC_URL'],
    [{ PUBLIC_URL: 'http://verdict.example.com' }, 'PUBLIC_URL: with OIDC_ISSUER, expected https'],
    [{ OIDC_ISSUER: undefined, OIDC_CLIENT_SECRET_FILE: '/a' }, 'OIDC_CLIENT_SECRET: requires OIDC_ISSUER'],
    [{ OIDC_ISSUER: undefined }, 'OIDC_CLIENT_ID: requires OIDC_ISSUER'],
    [{ OIDC_SCOPES: 'profile email' }, 'OIDC_SCOPES: expected openid'],
    [{ OIDC_SCOPES: 'openid offline_access' }, 'OIDC_SCOPES: expected scopes without offline_access'],
    [{ OIDC_SCOPES: 'openid  email' }, 'OIDC_SCOPES: expected scopes separated'],
    [{ OIDC_GROUPS_CLAIM: '/a~2' }, 'OIDC_GROUPS_CLAIM: expected a claim'],
    [{ OIDC_OWNERS: 'a,,b' }, 'OIDC_OWNERS: expected names separated by commas'],
    [{ OIDC_OWNERS: '50%' }, 'OIDC_OWNERS: expected names with % written as %25'],
    [{ OIDC_OWNERS: 'ö' }, 'OIDC_OWNERS: expected subjects of 1 to 255 ASCII characters'],
    [{ OIDC_OWNER_GROUPS: 'admins' }, 'OIDC_OWNER_GROUPS: requires OIDC_GROUPS_CLAIM'],
    [{ OIDC_CLOCK_SKEW_SECONDS: '301' }, 'OIDC_CLOCK_SKEW_SECONDS: expected an integer'],
  ])('is rejected with %j', (changed, message) => {
    expect(() => readConfig({ ...chosen, ...changed })).toThrow(`setting ${message}`)
  })
})
