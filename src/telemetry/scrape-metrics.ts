/**
 * Metrics that the main thread samples when they are scraped, one row per metric. `thread-metrics.ts`
 * contains the metrics that threads count.
 */
import type { MetricRow } from './thread-metrics.ts'

/** One environment at the moment of a scrape. */
export interface EnvironmentFigures {
  readonly project: string
  readonly environment: string
  /** Sequence number of the last commit that the index contains. */
  readonly sequence: number
  /** Time in milliseconds since which changes of other nodes might be missing. 0 if no other node writes. */
  readonly stalenessMs: number
  readonly bytes: Readonly<Record<string, number>>
  readonly facts: Readonly<Record<string, number>>
  readonly closuresBuilt: number
  readonly containersVoided: number
  readonly tenantsVoided: number
}

/** Keys of an environment, and whether it is closed. */
export interface EnvironmentStatus {
  readonly project: string
  readonly environment: string
  readonly isClosed: boolean
}

/** Functions that return the current values at a scrape. */
export interface MetricSources {
  /** Environments that have an index. */
  environments(): Iterable<EnvironmentFigures>
  /** Returns all environments. */
  environmentStates(): Iterable<EnvironmentStatus>
  /** Whether `/ready` returns 200. */
  isReady(): boolean
  /** Whether `/fresh` returns 200. */
  isFresh(): boolean
  /** Returns the number of times that another history has replaced the history of the store. */
  replacedHistories(): number
  /** Returns the number of management requests that have no response yet. */
  managementInFlight(): number
  /** Returns the number of finished sign-ins by result, or null if sign-in is not configured. */
  signIns(): Iterable<readonly [result: string, count: number]> | null
  /** Returns the number of sessions of members, or null if sign-in is not configured. */
  sessions(): number | null
  /** Version of the running release. */
  readonly version: string
  /** Seconds for which each thread was busy since its start, by the name of the thread. */
  activeSeconds(): Iterable<readonly [thread: string, seconds: number]>
}

type Labels = Readonly<Record<string, string>>

export interface ScrapeMetricRow extends MetricRow {
  readonly kind: 'counter' | 'gauge'
  readonly labels: readonly string[]
  /**
   * How the values of all environments are combined if the scrape must not name environments: into their sum,
   * into the greatest value, or into no value at all. Absent if the row has no label for environments.
   */
  readonly ofAll?: 'sum' | 'greatest' | 'nothing'
  values(sources: MetricSources): Iterable<readonly [labels: Labels, value: number]>
  /** Whether the metric exists on this node. If absent, it always exists. */
  isPresent?(sources: MetricSources): boolean
}

/** Labels that `/metrics` contains only if `METRICS_TOKEN` is set. */
export const OF_ENVIRONMENTS: readonly string[] = ['project', 'environment']

const STARTED_AT = Math.round(Date.now() / 1_000 - process.uptime())

export const SCRAPE_METRICS: readonly ScrapeMetricRow[] = [
  {
    name: 'verdict_build_info',
    kind: 'gauge',
    help: 'always 1; the labels contain the release and the version of Node',
    labels: ['version', 'node'],
    values: sources => [[{ version: sources.version, node: process.versions.node }, 1]],
  },
  one('gauge', 'verdict_ready', '1 while `/ready` returns 200', sources => (sources.isReady() ? 1 : 0)),
  one('gauge', 'verdict_fresh', '1 while `/fresh` returns 200; always 1 on the embedded store', sources =>
    sources.isFresh() ? 1 : 0,
  ),
  one(
    'gauge',
    'verdict_management_in_flight',
    'management requests that have no response yet; the limit is `MAX_MANAGEMENT_QUEUE`',
    sources => sources.managementInFlight(),
  ),
  one(
    'counter',
    'verdict_histories_replaced_total',
    'times at which another history replaced that of the store (restored, rewound or reinitialized); investigate each',
    sources => sources.replacedHistories(),
  ),
  {
    name: 'verdict_sign_ins_total',
    kind: 'counter',
    help: 'finished sign-ins at the issuer, by result; only with `OIDC_ISSUER`',
    labels: ['result'],
    values: sources => Array.from(sources.signIns() ?? [], ([result, count]) => [{ result }, count]),
    isPresent: sources => sources.signIns() !== null,
  },
  {
    ...one(
      'gauge',
      'verdict_sessions',
      'sessions of members that have not ended, as this node knows them; only with `OIDC_ISSUER`',
      sources => sources.sessions() ?? 0,
    ),
    isPresent: sources => sources.sessions() !== null,
  },
  {
    name: 'verdict_thread_active_seconds_total',
    kind: 'counter',
    help: 'time in which a thread was busy',
    labels: ['thread'],
    values: sources => Array.from(sources.activeSeconds(), ([thread, seconds]) => [{ thread }, seconds]),
  },
  {
    name: 'verdict_environment_closed',
    kind: 'gauge',
    help: '1 while an environment is closed on this node, otherwise 0',
    labels: OF_ENVIRONMENTS,
    ofAll: 'sum',
    values: sources =>
      Array.from(sources.environmentStates(), ({ project, environment, isClosed }) => [
        { project, environment },
        isClosed ? 1 : 0,
      ]),
  },
  ofEach(
    'gauge',
    'verdict_revision',
    'number of the newest commit in the index',
    'nothing',
    figures => figures.sequence,
  ),
  ofEach(
    'gauge',
    'verdict_staleness_seconds',
    'time for which changes of other nodes might be missing; 0 on the embedded store',
    'greatest',
    figures => figures.stalenessMs / 1_000,
  ),
  ofEach(
    'counter',
    'verdict_closures_built_total',
    'role closures that were built, either in advance or when a check needed them',
    'sum',
    figures => figures.closuresBuilt,
  ),
  ofEach(
    'counter',
    'verdict_closure_containers_voided_total',
    'containers whose closures a change invalidated',
    'sum',
    figures => figures.containersVoided,
  ),
  ofEach(
    'counter',
    'verdict_closure_tenants_voided_total',
    'times at which a change invalidated all closures of a tenant, because too many entities depend on the changed one',
    'sum',
    figures => figures.tenantsVoided,
  ),
  ofEachKind(
    'region',
    'verdict_index_bytes',
    'shared memory of the index, by region',
    figures => figures.bytes,
  ),
  ofEachKind(
    'kind',
    'verdict_index_facts',
    'contents of the index: `assignments`, `tuples`, and `records` (entities that these facts name)',
    figures => figures.facts,
  ),
  // Metrics of the process, with the names that Prometheus clients commonly use.
  one(
    'gauge',
    'process_resident_memory_bytes',
    'memory of the process, including indexes and reclaimable mapped pages of the store',
    () => process.memoryUsage.rss(),
  ),
  one(
    'gauge',
    'process_start_time_seconds',
    'start time of the process, in seconds since 1970',
    () => STARTED_AT,
  ),
  one('counter', 'process_cpu_seconds_total', 'processor time of all threads of the process', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  }),
]

/** Row with a single value for the whole process. */
function one(
  kind: ScrapeMetricRow['kind'],
  name: string,
  help: string,
  valueOf: (sources: MetricSources) => number,
): ScrapeMetricRow {
  return { name, kind, help, labels: [], values: sources => [[{}, valueOf(sources)]] }
}

/** Row with one value for each environment. */
function ofEach(
  kind: ScrapeMetricRow['kind'],
  name: string,
  help: string,
  ofAll: ScrapeMetricRow['ofAll'] & string,
  valueOf: (figures: EnvironmentFigures) => number,
): ScrapeMetricRow {
  return {
    name,
    kind,
    help,
    labels: OF_ENVIRONMENTS,
    ofAll,
    values: sources => Array.from(sources.environments(), figures => [namesOf(figures), valueOf(figures)]),
  }
}

/** Row with several values for each environment, which another label distinguishes. */
function ofEachKind(
  label: string,
  name: string,
  help: string,
  valuesOf: (figures: EnvironmentFigures) => Readonly<Record<string, number>>,
): ScrapeMetricRow {
  return {
    name,
    kind: 'gauge',
    help,
    labels: [...OF_ENVIRONMENTS, label],
    ofAll: 'sum',
    values: sources =>
      Array.from(sources.environments()).flatMap(figures =>
        Object.entries(valuesOf(figures)).map(([kind, value]): readonly [Labels, number] => [
          { ...namesOf(figures), [label]: kind },
          value,
        ]),
      ),
  }
}

function namesOf({ project, environment }: EnvironmentFigures): Labels {
  return { project, environment }
}
