/**
 * Settings: environment variables, each with its default, its meaning and its name in `Config`. How they are read, and what is
 * refused, is in `read-config.ts`.
 */
import { availableParallelism } from 'node:os'
import { KEY_OVERLAP_SECONDS_MAX } from '#model/limits.ts'
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

export const settings = {
  HOST: setting('host', word('127.0.0.1', 'address to listen on')),
  PORT: setting('port', integer(7766, { min: 0, max: 65_535 }, 'port to listen on; `0` takes a free one')),
  OPA_PORT: setting('opaPort', {
    shownDefault: 'off',
    meaning:
      'a second port, which answers checks and lists of permissions as an Open Policy Agent would; SDKs look for it at `8181`',
    parse: value => parseInteger(value, { min: 1, max: 65_535 }),
    fallback: () => null,
  }),
  KONG_PORT: setting('kongPort', {
    shownDefault: 'off',
    meaning:
      'a port that answers the Open Policy Agent plugin of Kong without credentials, about `KONG_ENVIRONMENT`; nobody but the gateway may reach it',
    parse: value => parseInteger(value, { min: 1, max: 65_535 }),
    fallback: () => null,
  }),
  KONG_ENVIRONMENT: setting('kongEnvironment', {
    shownDefault: 'none',
    meaning: 'the environment that `KONG_PORT` decides for, as `project/environment`, by their keys',
    parse: parseEnvironment,
    fallback: () => null,
  }),
  STORE_URL: setting('storeUrl', {
    shownDefault: '`lmdb:./data`',
    meaning:
      'where everything is kept: `lmdb:DIR` in a directory, `memory:` until the process ends, `redis://…` (others: docs/redis.md) shared with other nodes',
    isSecret: true,
    parse: nonEmpty,
    fallback: () => null,
  }),
  REDIS_PASSWORD: setting(
    'redisPassword',
    password('the password of the Redis that `STORE_URL` names, in place of one in the URL'),
  ),
  REDIS_SENTINEL_PASSWORD: setting(
    'redisSentinelPassword',
    password('the password of its sentinels, in place of `sentinel_password` in the URL'),
  ),
  DATA_DIR: setting(
    'dataDirectory',
    word('./data', 'directory for the local copy of what is kept in Redis; one for each node'),
  ),
  LOG_ENTRIES_MAX: setting(
    'logEntriesMax',
    integer(
      100_000,
      { min: 100, max: 100_000_000 },
      'commits the log of an environment keeps: how far a node may fall behind before it loads everything again',
    ),
  ),
  STALE_AFTER_MS: setting(
    'staleAfterMs',
    integer(
      5_000,
      { min: 50, max: 3_600_000 },
      'a node that has not heard from Redis for so long, or of one environment, says so (`/fresh`), and goes on deciding',
    ),
  ),
  MAX_STALE_MS: setting(
    'maxStaleMs',
    integer(
      60_000,
      { min: 0, max: 86_400_000 },
      'after so long without Redis, or news of one environment, decisions by what is known are 503; `0`: they go on',
    ),
  ),
  ALLOW_EVICTION: setting(
    'allowsEviction',
    flag('start although Redis throws keys away when it is full (`maxmemory-policy`): facts may get lost'),
  ),
  MIN_REVISION_WAIT_MS: setting(
    'minRevisionWaitMs',
    integer(
      2_000,
      { min: 0, max: 60_000 },
      'how long a decision with `X-Min-Revision` waits for that state before it is 503',
    ),
  ),
  API_KEY: setting(
    'apiKey',
    secret('the key of environment `default` in project `default`', 'generated at the first start'),
  ),
  ADMIN_API_KEY: setting(
    'adminApiKey',
    secret('the key of the organization: may manage every environment, may not decide', 'none'),
  ),
  KEY_OVERLAP_SECONDS: setting(
    'keyOverlapSeconds',
    integer(
      3_600,
      { min: 0, max: KEY_OVERLAP_SECONDS_MAX },
      'how long the old secret of a rotated key stays good, unless the rotation says otherwise',
    ),
  ),
  HTTP_THREADS: setting('httpThreads', {
    shownDefault: 'cores − 1, at least 1',
    meaning: 'threads that take requests and decide',
    parse: value => parseInteger(value, { min: 1, max: 64 }),
    fallback: () => Math.max(1, availableParallelism() - 1),
  }),
  POOL_THREADS: setting('poolThreads', {
    shownDefault: '1, or 0 on one core',
    meaning:
      'threads beside each HTTP thread that take part in bulks of thousands and do searches, and one more that reads large bodies; `0`: none',
    parse: value => parseInteger(value, { min: 0, max: 64 }),
    fallback: () => (availableParallelism() > 1 ? 1 : 0),
  }),
  POOL_JOBS_MAX: setting(
    'poolJobsMax',
    integer(
      64,
      { min: 1, max: 100_000 },
      'large bulks and searches under way or waiting in one HTTP thread; beyond it 503',
    ),
  ),
  MAX_BODY_BYTES: setting(
    'bodyBytesMax',
    integer(
      16_777_216,
      { min: 1_024, max: 1_073_741_824 },
      'largest body of a bulk or batch; others may have 256 KiB, or 4 MiB where they bring parts along; beyond it 413',
    ),
  ),
  MAX_ATTRIBUTES_BYTES: setting(
    'attributesBytesMax',
    integer(
      65_536,
      { min: 1_024, max: 16_777_216 },
      'most bytes of JSON in the attributes of one thing; beyond it 400',
    ),
  ),
  MAX_IMPORT_BYTES: setting(
    'importBytesMax',
    integer(
      1_073_741_824,
      { min: 1_048_576, max: 1_099_511_627_776 },
      'most bytes that an import keeps in memory, some 130 a fact; beyond it 400',
    ),
  ),
  MAX_HEADER_BYTES: setting(
    'headerBytesMax',
    integer(16_384, { min: 1_024, max: 1_048_576 }, 'longest request line with its headers; beyond it 431'),
  ),
  MAX_BULK_CHECKS: setting(
    'bulkChecksMax',
    integer(10_000, { min: 1, max: 1_000_000 }, 'most checks in one bulk; beyond it 400'),
  ),
  MAX_LISTED_ENTRIES: setting(
    'listedEntriesMax',
    integer(
      100_000,
      { min: 1, max: 10_000_000 },
      'most entries of `/user-permissions`, `/authorized_users`, `/allowed/all-tenants` and `/user-tenants`; beyond it 400',
    ),
  ),
  MAX_LISTED_BYTES: setting(
    'listedBytesMax',
    integer(67_108_864, { min: 1_024, max: 536_870_912 }, 'longest answer of these four; beyond it 400'),
  ),
  SEARCH_PAGE_SIZE: setting(
    'searchPageSize',
    integer(1_000, { min: 1, max: 100_000 }, 'results of a search page when none is asked for'),
  ),
  MAX_SEARCH_PAGE_SIZE: setting(
    'searchPageSizeMax',
    integer(10_000, { min: 1, max: 100_000 }, 'most results of a search page'),
  ),
  SEARCH_SCAN_MAX: setting(
    'searchScanMax',
    integer(
      20_000,
      { min: 1, max: 1_000_000 },
      'candidates that conditions are asked about for one page of a search; behind them the page ends, and says how to go on',
    ),
  ),
  PUBLIC_URL: setting('publicUrl', {
    shownDefault: 'from `Host`',
    meaning: 'the base URL callers use, given in the AuthZEN metadata and `/openapi.json` byte for byte',
    parse: parseUrl,
    fallback: () => null,
  }),
  CORS_ORIGINS: setting('corsOrigins', {
    shownDefault: 'off',
    meaning:
      'pages that may ask from a browser: origins such as `https://console.example.com`, with commas between them, or `*`',
    parse: parseOrigins,
    fallback: () => null,
  }),
  SUBJECT_TYPES: setting('subjectTypes', {
    shownDefault: '`user,identity`',
    meaning:
      'AuthZEN subject types whose ids are user keys; any other type is nobody. The console searches for subjects of the type `user`',
    parse: value => parseList(value),
    fallback: () => ['user', 'identity'],
  }),
  PERMISSION_FORMAT: setting(
    'permissionFormat',
    choice(['action:resource', 'resource:action'], 'how `/user-permissions` writes a permission'),
  ),
  STRICT_HEADERS: setting(
    'hasStrictHeaders',
    flag('refuse decisions without `X-Request-ID`, evaluations also without `Cache-Control`'),
  ),
  AUTHZEN_STRICT: setting(
    'isAuthzenStrict',
    flag('refuse evaluations without `resource.id`, which otherwise ask about the type'),
  ),
  DEBUG_DECISIONS: setting('hasDebug', flag('explain decisions of `/allowed` in `debug`; slower')),
  BYTES_PATH: setting(
    'hasBytesPath',
    flag('read decisions of the usual kind straight from their bytes; `false`: parse them all', true),
  ),
  MAX_CONNECTIONS: setting(
    'connectionsMax',
    integer(10_000, { min: 1, max: 1_000_000 }, 'most open connections; one more is closed at once'),
  ),
  MAX_MANAGEMENT_QUEUE: setting(
    'managementQueueMax',
    integer(1_000, { min: 1, max: 100_000 }, 'most management requests under way at once; one more is 503'),
  ),
  MAX_CHANGE_STREAMS: setting(
    'changeStreamsMax',
    integer(1_000, { min: 1, max: 1_000_000 }, 'most streams of changes open on this node; one more is 429'),
  ),
  MAX_CHANGE_STREAMS_PER_KEY: setting(
    'changeStreamsPerKeyMax',
    integer(200, { min: 1, max: 1_000_000 }, 'most of them with one key; one more is 429'),
  ),
  MAX_EFFECTIVE_ENVIRONMENTS: setting(
    'effectiveEnvironmentsMax',
    integer(
      4,
      { min: 0, max: 10_000 },
      'most environments of which streams tell whose access changes; each takes the memory of its index again',
    ),
  ),
  CHANGE_STREAM_BUFFER_BYTES: setting(
    'changeStreamBytesMax',
    integer(
      4_194_304,
      { min: 65_536, max: 1_073_741_824 },
      'most bytes kept for a reader of changes that does not keep up; beyond it the stream ends',
    ),
  ),
  CHANGE_STREAMS_MEMORY_BYTES: setting(
    'changeStreamsBytesMax',
    integer(
      134_217_728,
      { min: 33_554_432, max: 1_099_511_627_776 },
      'most memory for what readers of changes have yet to take; beyond it the streams end that need the oldest of it',
    ),
  ),
  BODY_TIMEOUT_MS: setting(
    'receiveMsMax',
    integer(
      60_000,
      { min: 100, max: 3_600_000 },
      'how long a body may take to arrive, or the next 64 KiB of an import; beyond it 408',
    ),
  ),
  RATE_LIMIT_PER_SECOND: setting('requestsPerSecondMax', {
    shownDefault: 'off',
    meaning: 'most requests a second with one key, on each node; one more is 429',
    parse: value => parseInteger(value, { min: 1, max: 1_000_000 }),
    fallback: () => null,
  }),
  AUDIT_RETENTION_DAYS: setting(
    'auditRetentionDays',
    integer(90, { min: 0, max: 36_500 }, 'how long entries of the audit log are kept; `0`: for ever'),
  ),
  STOP_DELAY_MS: setting(
    'stopDelayMs',
    integer(
      1_000,
      { min: 0, max: 3_000 },
      'how long a stopping service says that it is not ready before it takes no more connections',
    ),
  ),
  METRICS: setting(
    'metrics',
    choice(['on', 'off'], 'whether requests and decisions are counted for `/metrics`'),
  ),
  METRICS_TOKEN: setting(
    'metricsToken',
    secret(
      'what a scraper of `/metrics` must bring as its bearer token',
      'none: anybody may look; environments and projects are not named',
    ),
  ),
  SLOW_REQUEST_MS: setting(
    'slowRequestMs',
    integer(1_000, { min: 0, max: 3_600_000 }, 'requests that take as long are logged; `0`: none are'),
  ),
  DECISION_LOG: setting('decisionLog', {
    shownDefault: 'off',
    meaning: 'where a record of each decision goes: a file, or `stdout`',
    parse: nonEmpty,
    fallback: () => null,
  }),
  DECISION_LOG_SAMPLE: setting('decisionLogShare', {
    shownDefault: '`1`',
    meaning: 'the part of the decisions that are recorded, above 0 and up to 1',
    parse: parseShare,
    fallback: () => 1,
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting('otlpEndpoint', {
    shownDefault: 'off',
    meaning:
      'makes OpenTelemetry spans of requests, and sends them to this collector as OTLP over HTTP, such as `http://127.0.0.1:4318`',
    // Empty is unset, as OpenTelemetry has it.
    parse: value => (value === '' ? null : parseUrl(value)),
    fallback: () => null,
  }),
  OTEL_EXPORTER_OTLP_HEADERS: setting('otlpHeaders', {
    shownDefault: 'none',
    meaning: 'headers for the collector, such as a token: `name=value`, with commas between several',
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
      'which requests have spans; with `parentbased_…` whoever began a trace has decided that for all of it',
    ),
  ),
  OTEL_TRACES_SAMPLER_ARG: setting('tracesShare', {
    shownDefault: '`1`',
    meaning: 'the part of the traces that `traceidratio` keeps, above 0 and up to 1',
    parse: parseShare,
    fallback: () => 1,
  }),
  LOG_LEVEL: setting(
    'logLevel',
    choice(['info', 'debug', 'warn', 'error', 'silent'], 'least severe log line written'),
  ),
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

type Settings = typeof settings

/** Every setting of the table, by the name it has in the code. */
export type Config = {
  readonly [Name in keyof Settings as Settings[Name]['as']]: ReturnType<Settings[Name]['parse']>
}

/** What no thread needs: the keys, which it checks by hash, and how to get at the store. */
type MainThreadOnly = 'apiKey' | 'adminApiKey' | 'storeUrl' | 'redisPassword' | 'redisSentinelPassword'

/** The settings that a thread may know. */
export type ThreadSettings = Omit<Config, MainThreadOnly>

export function withoutSecrets({
  apiKey: _apiKey,
  adminApiKey: _admin,
  storeUrl: _store,
  redisPassword: _password,
  redisSentinelPassword: _sentinelPassword,
  ...rest
}: Config): ThreadSettings {
  return rest
}

export const STORE_URL_DEFAULT = 'lmdb:./data'
