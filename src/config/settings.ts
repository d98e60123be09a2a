/**
 * Settings, which are environment variables. Each row defines the default, the meaning and the name in
 * `Config`. `read-config.ts` reads and validates the settings. `--help` and docs/settings.md show the
 * meanings. The order of the rows matters, because `packaging/documents.ts` groups the table by topic.
 */
import { availableParallelism } from 'node:os'
import { KEY_OVERLAP_SECONDS_MAX } from '#model/limits.ts'
import { ACCESS_LEVELS, type AccessLevel } from '#model/principal.ts'
import {
  choice,
  flag,
  integer,
  nonEmpty,
  parseEnvironment,
  parseHeaders,
  parseInteger,
  parseList,
  parseOrigins,
  parseShare,
  parseUrl,
  password,
  secret,
  setting,
  word,
} from './setting-kinds.ts'
import { signInSettings } from './sign-in-settings.ts'

export const settings = {
  HOST: setting('host', word('127.0.0.1', 'address to listen on')),
  PORT: setting('port', integer(7766, { min: 0, max: 65_535 }, 'port to listen on; `0` selects a free port')),
  OPA_PORT: setting('opaPort', {
    shownDefault: 'off',
    meaning: 'second port, for SDKs that use the API of Open Policy Agent; they expect `8181`',
    parse: value => parseInteger(value, { min: 1, max: 65_535 }),
    fallback: () => null,
  }),
  KONG_PORT: setting('kongPort', {
    shownDefault: 'off',
    meaning: 'port for the OPA plugin of Kong, without credentials; only the gateway may reach it',
    parse: value => parseInteger(value, { min: 1, max: 65_535 }),
    fallback: () => null,
  }),
  KONG_ENVIRONMENT: setting('kongEnvironment', {
    shownDefault: 'none',
    meaning: 'environment in which requests to `KONG_PORT` are decided: `project/environment`, both as keys',
    parse: parseEnvironment,
    fallback: () => null,
  }),
  STORE_URL: setting('storeUrl', {
    shownDefault: '`lmdb:./data`',
    meaning:
      'store: `lmdb:DIR`, `memory:` (lost at exit), or `redis://…` (shared by nodes; all forms: docs/redis.md)',
    isSecret: true,
    parse: nonEmpty,
    fallback: () => null,
  }),
  REDIS_PASSWORD: setting(
    'redisPassword',
    password('password of the Redis server, instead of a password in `STORE_URL`'),
  ),
  REDIS_SENTINEL_PASSWORD: setting(
    'redisSentinelPassword',
    password('password of the Redis sentinels, instead of `sentinel_password` in `STORE_URL`'),
  ),
  DATA_DIR: setting(
    'dataDirectory',
    word('./data', 'directory of the local replica of a Redis node; every node needs its own'),
  ),
  LOG_ENTRIES_MAX: setting(
    'logEntriesMax',
    integer(
      100_000,
      { min: 100, max: 100_000_000 },
      'maximum commits in the log of each environment; a node that lags by more commits reloads the environment',
    ),
  ),
  STALE_AFTER_MS: setting(
    'staleAfterMs',
    integer(
      5_000,
      { min: 50, max: 3_600_000 },
      'time after which `/fresh` is 503 if no news arrives from Redis, or of one environment; decisions continue',
    ),
  ),
  NEW_STORE_WAIT_MS: setting(
    'newStoreWaitMs',
    integer(
      5_000,
      { min: 0, max: 600_000 },
      'if Redis is empty: time for which a node waits for other nodes before it begins a new store; it does not start if another node runs. `0`: it begins immediately',
    ),
  ),
  MAX_STALE_MS: setting(
    'maxStaleMs',
    integer(
      60_000,
      { min: 0, max: 86_400_000 },
      'time after which decisions are 503 if no news arrives from Redis, or of one environment; `0`: never',
    ),
  ),
  ALLOW_EVICTION: setting(
    'allowsEviction',
    flag(
      'start even if Redis is configured to evict keys when it is full (`maxmemory-policy`); facts can then be lost',
    ),
  ),
  MIN_REVISION_WAIT_MS: setting(
    'minRevisionWaitMs',
    integer(
      2_000,
      { min: 0, max: 60_000 },
      'time for which a request waits for the revision in `X-Min-Revision`; after that, the response is 503',
    ),
  ),
  API_KEY: setting(
    'apiKey',
    secret('API key of the environment `default` in the project `default`', 'generated at the first start'),
  ),
  API_KEY_ACCESS_LEVEL: setting(
    'apiKeyAccessLevel',
    choice(ACCESS_LEVELS.toReversed() as [AccessLevel, ...AccessLevel[]], 'access level of `API_KEY`'),
  ),
  ADMIN_API_KEY: setting(
    'adminApiKey',
    secret('API key of the organization; it manages all environments and makes no decisions', 'none'),
  ),
  KEY_OVERLAP_SECONDS: setting(
    'keyOverlapSeconds',
    integer(
      3_600,
      { min: 0, max: KEY_OVERLAP_SECONDS_MAX },
      'default time for which the old secret of a rotated key stays valid',
    ),
  ),
  HTTP_THREADS: setting('httpThreads', {
    shownDefault: 'cores − 1, at least 1',
    meaning: 'threads that receive requests and make decisions',
    parse: value => parseInteger(value, { min: 1, max: 64 }),
    fallback: () => Math.max(1, availableParallelism() - 1),
  }),
  POOL_THREADS: setting('poolThreads', {
    shownDefault: '1, or 0 on one core',
    meaning:
      'additional threads per HTTP thread for large bulks and searches; one more reads large bodies; `0`: no additional threads',
    parse: value => parseInteger(value, { min: 0, max: 64 }),
    fallback: () => (availableParallelism() > 1 ? 1 : 0),
  }),
  POOL_JOBS_MAX: setting(
    'poolJobsMax',
    integer(
      64,
      { min: 1, max: 100_000 },
      'maximum large bulks and searches, running or waiting, per HTTP thread, half of them of one environment; further ones receive 503',
    ),
  ),
  MAX_BODY_BYTES: setting(
    'bodyBytesMax',
    integer(
      16_777_216,
      { min: 1_024, max: 1_073_741_824 },
      'maximum size of the body of a bulk or batch; a larger body receives 413. Other bodies have fixed limits (docs/limits.md)',
    ),
  ),
  MAX_ATTRIBUTES_BYTES: setting(
    'attributesBytesMax',
    integer(
      65_536,
      { min: 1_024, max: 16_777_216 },
      'maximum size of the attributes of one entity, as JSON; larger attributes receive 400',
    ),
  ),
  MAX_IMPORT_BYTES: setting(
    'importBytesMax',
    integer(
      1_073_741_824,
      { min: 1_048_576, max: 1_099_511_627_776 },
      'maximum memory of an import, which needs about 130 bytes per fact; a larger import receives 400',
    ),
  ),
  MAX_HEADER_BYTES: setting(
    'headerBytesMax',
    integer(
      16_384,
      { min: 1_024, max: 1_048_576 },
      'maximum size of the request line and headers; larger ones receive 431',
    ),
  ),
  MAX_BULK_CHECKS: setting(
    'bulkChecksMax',
    integer(
      10_000,
      { min: 1, max: 1_000_000 },
      'maximum checks in one bulk; a bulk with more checks receives 400',
    ),
  ),
  MAX_LISTED_ENTRIES: setting(
    'listedEntriesMax',
    integer(
      100_000,
      { min: 1, max: 10_000_000 },
      'maximum entries in a response of `/user-permissions`, `/authorized_users`, `/allowed/all-tenants` and `/user-tenants`; a longer list is 400',
    ),
  ),
  MAX_LISTED_BYTES: setting(
    'listedBytesMax',
    integer(
      67_108_864,
      { min: 1_024, max: 536_870_912 },
      'maximum size of a response of the four endpoints of `MAX_LISTED_ENTRIES`; a larger response is 400',
    ),
  ),
  SEARCH_PAGE_SIZE: setting(
    'searchPageSize',
    integer(1_000, { min: 1, max: 100_000 }, 'results in a search page if the request states no size'),
  ),
  MAX_SEARCH_PAGE_SIZE: setting(
    'searchPageSizeMax',
    integer(10_000, { min: 1, max: 100_000 }, 'maximum results in a search page'),
  ),
  SEARCH_SCAN_MAX: setting(
    'searchScanMax',
    integer(
      20_000,
      { min: 1, max: 1_000_000 },
      'maximum candidates for which one search page evaluates conditions; the page then ends with a token for the next one',
    ),
  ),
  PUBLIC_URL: setting('publicUrl', {
    shownDefault: 'from `Host`',
    meaning: 'base URL for clients, copied unchanged into the AuthZEN metadata and `/openapi.json`',
    parse: parseUrl,
    fallback: () => null,
  }),
  CORS_ORIGINS: setting('corsOrigins', {
    shownDefault: 'off',
    meaning: 'origins that can call the API from a browser (CORS): a comma-separated list, or `*`',
    parse: parseOrigins,
    fallback: () => null,
  }),
  SUBJECT_TYPES: setting('subjectTypes', {
    shownDefault: '`user,identity`',
    meaning: 'AuthZEN subject types whose ids are user keys; the console needs `user`',
    parse: value => parseList(value),
    fallback: () => ['user', 'identity'],
  }),
  PERMISSION_FORMAT: setting(
    'permissionFormat',
    choice(['action:resource', 'resource:action'], 'form of a permission in `/user-permissions`'),
  ),
  STRICT_HEADERS: setting(
    'hasStrictHeaders',
    flag('reject checks without `X-Request-ID`, and evaluations without `Cache-Control`'),
  ),
  AUTHZEN_STRICT: setting(
    'isAuthzenStrict',
    flag('reject evaluations without `resource.id`; if `false`, they check the resource type as a whole'),
  ),
  DEBUG_DECISIONS: setting(
    'hasDebug',
    flag('explain the decisions of `/allowed` in the member `debug` of the response; slower'),
  ),
  BYTES_PATH: setting(
    'hasBytesPath',
    flag(
      'read checks of the usual form directly from the bytes of the body; `false`: parse every body as JSON',
      true,
    ),
  ),
  ...signInSettings,
  MAX_CONNECTIONS: setting(
    'connectionsMax',
    integer(
      10_000,
      { min: 1, max: 1_000_000 },
      'maximum open connections; further connections are closed immediately',
    ),
  ),
  MAX_MANAGEMENT_QUEUE: setting(
    'managementQueueMax',
    integer(
      1_000,
      { min: 1, max: 100_000 },
      'maximum concurrent management requests; further ones receive 503. One environment can use half of this number; its further requests receive 429',
    ),
  ),
  MAX_CHANGE_STREAMS: setting(
    'changeStreamsMax',
    integer(
      1_000,
      { min: 1, max: 1_000_000 },
      'maximum change streams on this node; further ones receive 429',
    ),
  ),
  MAX_CHANGE_STREAMS_PER_KEY: setting(
    'changeStreamsPerKeyMax',
    integer(
      200,
      { min: 1, max: 1_000_000 },
      'maximum change streams with one API key; further ones receive 429',
    ),
  ),
  MAX_EFFECTIVE_ENVIRONMENTS: setting(
    'effectiveEnvironmentsMax',
    integer(
      4,
      { min: 0, max: 10_000 },
      'maximum environments with streams of effective access changes; each needs memory for a second index',
    ),
  ),
  CHANGE_STREAM_BUFFER_BYTES: setting(
    'changeStreamBytesMax',
    integer(
      4_194_304,
      { min: 65_536, max: 1_073_741_824 },
      'maximum bytes that wait for one slow change-stream client; beyond it, the stream of this client ends',
    ),
  ),
  CHANGE_STREAMS_MEMORY_BYTES: setting(
    'changeStreamsBytesMax',
    integer(
      134_217_728,
      { min: 33_554_432, max: 1_099_511_627_776 },
      'memory for unread changes of all streams; if it is full, the streams that still need the oldest changes end',
    ),
  ),
  BODY_TIMEOUT_MS: setting(
    'receiveMsMax',
    integer(
      60_000,
      { min: 100, max: 3_600_000 },
      'time in which a body, or the next 64 KiB of an import, must arrive; otherwise the response is 408',
    ),
  ),
  RATE_LIMIT_PER_SECOND: setting('requestsPerSecondMax', {
    shownDefault: 'off',
    meaning: 'maximum requests per second with one API key on each node; further ones receive 429',
    parse: value => parseInteger(value, { min: 1, max: 1_000_000 }),
    fallback: () => null,
  }),
  AUDIT_RETENTION_DAYS: setting(
    'auditRetentionDays',
    integer(90, { min: 0, max: 36_500 }, 'days for which audit entries are kept; `0`: no limit'),
  ),
  STOP_DELAY_MS: setting(
    'stopDelayMs',
    integer(
      1_000,
      { min: 0, max: 3_000 },
      'time during a shutdown for which `/ready` is 503 before the port is closed, at most 3,000',
    ),
  ),
  METRICS: setting(
    'metrics',
    choice(['on', 'off'], 'whether requests and decisions are counted for `/metrics`'),
  ),
  METRICS_TOKEN: setting(
    'metricsToken',
    secret('bearer token that `/metrics` requires', 'none: `/metrics` is public and names no environments'),
  ),
  SLOW_REQUEST_MS: setting(
    'slowRequestMs',
    integer(1_000, { min: 0, max: 3_600_000 }, 'duration from which a request is logged as slow; `0`: never'),
  ),
  DECISION_LOG: setting('decisionLog', {
    shownDefault: 'off',
    meaning: 'destination of the decision log: a file, or `stdout`',
    parse: nonEmpty,
    fallback: () => null,
  }),
  DECISION_LOG_SAMPLE: setting('decisionLogShare', {
    shownDefault: '`1`',
    meaning: 'fraction of decisions that are recorded, above 0 and at most 1',
    parse: parseShare,
    fallback: () => 1,
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting('otlpEndpoint', {
    shownDefault: 'off',
    meaning: 'OpenTelemetry collector that receives spans by OTLP over HTTP, such as `http://127.0.0.1:4318`',
    // In OpenTelemetry, an empty variable counts as unset.
    parse: value => (value === '' ? null : parseUrl(value)),
    fallback: () => null,
  }),
  OTEL_EXPORTER_OTLP_HEADERS: setting('otlpHeaders', {
    shownDefault: 'none',
    meaning: 'headers for the collector, such as a token: `name=value`, separated by commas',
    isSecret: true,
    parse: parseHeaders,
    fallback: () => null,
  }),
  OTEL_TRACES_SAMPLER: setting(
    'tracesSampler',
    choice(
      [
        'parentbased_always_on',
        'parentbased_always_off',
        'parentbased_traceidratio',
        'always_on',
        'always_off',
        'traceidratio',
      ],
      'selects the requests that are traced; with `parentbased_…`, the client that starts a trace decides',
    ),
  ),
  OTEL_TRACES_SAMPLER_ARG: setting('tracesShare', {
    shownDefault: '`1`',
    meaning: 'fraction of traces that `traceidratio` keeps, above 0 and at most 1',
    parse: parseShare,
    fallback: () => 1,
  }),
  LOG_LEVEL: setting(
    'logLevel',
    choice(['info', 'debug', 'warn', 'error', 'silent'], 'lowest level of the log lines that are written'),
  ),
}

type Settings = typeof settings

/** Values of all settings. Each value has the name that the code uses. */
export type Config = {
  readonly [Name in keyof Settings as Settings[Name]['as']]: ReturnType<Settings[Name]['parse']>
}

/**
 * Settings that only the main thread needs: the API keys, the address and passwords of the store, and the
 * secret of the client at the issuer. The other threads need no API keys, because they compare only hashes.
 */
type MainThreadOnly =
  | 'apiKey'
  | 'adminApiKey'
  | 'storeUrl'
  | 'redisPassword'
  | 'redisSentinelPassword'
  | 'oidcClientSecret'

/** Settings that are passed to threads. */
export type ThreadSettings = Omit<Config, MainThreadOnly>

export function withoutSecrets({
  apiKey: _apiKey,
  adminApiKey: _admin,
  storeUrl: _store,
  redisPassword: _password,
  redisSentinelPassword: _sentinelPassword,
  oidcClientSecret: _clientSecret,
  ...rest
}: Config): ThreadSettings {
  return rest
}

export const STORE_URL_DEFAULT = 'lmdb:./data'
