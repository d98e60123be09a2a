/**
 * What the main thread looks up when somebody asks for metrics: one row a metric. What threads count has its rows in
 * `counted-metrics.ts`.
 */
import type { MetricRow } from './counted-metrics.ts'

/** One environment at the moment of a scrape. */
export interface EnvironmentFigures {
  readonly project: string
  readonly environment: string
  /** Sequence of the newest commit in the index. */
  readonly sequence: number
  /** For how long changes made elsewhere may have been missed; 0 where nobody else writes. */
  readonly stalenessMs: number
  readonly bytes: Readonly<Record<string, number>>
  readonly facts: Readonly<Record<string, number>>
  readonly closuresBuilt: number
  readonly containersVoided: number
  readonly tenantsVoided: number
}

/** An environment by its keys, and whether it is closed. */
export interface EnvironmentState {
  readonly project: string
  readonly environment: string
  readonly isClosed: boolean
}

/** What is asked for at a scrape. */
export interface MetricSources {
  /** Those that have an index. */
  environments(): Iterable<EnvironmentFigures>
  /** All that callers may name. */
  environmentStates(): Iterable<EnvironmentState>
  /** Whether `/ready` says yes. */
  isReady(): boolean
  /** Whether `/fresh` says yes. */
  isFresh(): boolean
  /** How many histories of the store were replaced by others. */
  replacedHistories(): number
  /** Management requests that have not been answered yet. */
  managementInFlight(): number
  /** The release that runs. */
  readonly version: string
  /** Seconds each thread has been at work since it started, by its name. */
  activeSeconds(): Iterable<readonly [thread: string, seconds: number]>
}

type Labels = Readonly<Record<string, string>>

export interface SampledRow extends MetricRow {
  readonly kind: 'counter' | 'gauge'
  readonly labels: readonly string[]
  /**
   * Of a row by environment, what a scrape without their names tells: the sum, the greatest value, or nothing. Absent: the row names no
   * environment.
   */
  readonly ofAll?: 'sum' | 'greatest' | 'nothing'
  values(sources: MetricSources): Iterable<readonly [labels: Labels, value: number]>
}

/** Labels that only a scraper with a token is told (`METRICS_TOKEN`). */
export const OF_ENVIRONMENTS: readonly string[] = ['project', 'environment']

const STARTED_AT = Math.round(Date.now() / 1_000 - process.uptime())

export const SAMPLED_METRICS: readonly SampledRow[] = [
  {
    name: 'verdict_build_info',
    kind: 'gauge',
    help: 'always 1; the labels say which release runs, on which Node',
    labels: ['version', 'node'],
    values: sources => [[{ version: sources.version, node: process.versions.node }, 1]],
  },
  one('gauge', 'verdict_ready', '1 while `/ready` says yes', sources => (sources.isReady() ? 1 : 0)),
  one(
    'gauge',
    'verdict_fresh',
    '1 while `/fresh` says yes: what other nodes change is heard of, in every environment; always on the embedded store',
    sources => (sources.isFresh() ? 1 : 0),
  ),
  one(
    'gauge',
    'verdict_management_in_flight',
    'management requests not answered yet; the ceiling is `MAX_MANAGEMENT_QUEUE`',
    sources => sources.managementInFlight(),
  ),
  one(
    'counter',
    'verdict_histories_replaced_total',
    'histories of the store that were replaced by others: restored, rewound or begun anew; always worth a look',
    sources => sources.replacedHistories(),
  ),
  {
    name: 'verdict_thread_active_seconds_total',
    kind: 'counter',
    help: 'time a thread was at work and not waiting for events',
    labels: ['thread'],
    values: sources => Array.from(sources.activeSeconds(), ([thread, seconds]) => [{ thread }, seconds]),
  },
  {
    name: 'verdict_environment_closed',
    kind: 'gauge',
    help: '1 while an environment cannot be decided on here, 0 while it can',
    labels: OF_ENVIRONMENTS,
    ofAll: 'sum',
    values: sources =>
      Array.from(sources.environmentStates(), ({ project, environment, isClosed }) => [
        { project, environment },
        isClosed ? 1 : 0,
      ]),
  },
  ofEach('gauge', 'verdict_revision', 'newest commit in the index', 'nothing', figures => figures.sequence),
  ofEach(
    'gauge',
    'verdict_staleness_seconds',
    'for how long changes made on other nodes may have been missed; 0 on the embedded store',
    'greatest',
    figures => figures.stalenessMs / 1_000,
  ),
  ofEach(
    'counter',
    'verdict_closures_built_total',
    'role closures built, ahead of questions or for one',
    'sum',
    figures => figures.closuresBuilt,
  ),
  ofEach(
    'counter',
    'verdict_closure_containers_voided_total',
    'containers whose closures a change made void',
    'sum',
    figures => figures.containersVoided,
  ),
  ofEach(
    'counter',
    'verdict_closure_tenants_voided_total',
    'tenants all of whose closures went at once, because too much hung below a change',
    'sum',
    figures => figures.tenantsVoided,
  ),
  ofEachKind(
    'region',
    'verdict_index_bytes',
    'shared memory the index has grown to, by region',
    figures => figures.bytes,
  ),
  ofEachKind(
    'kind',
    'verdict_index_facts',
    '`assignments`, `tuples`, and `records` of everything they are about',
    figures => figures.facts,
  ),
  // Under the names that everybody uses for them.
  one(
    'gauge',
    'process_resident_memory_bytes',
    'memory of the process, all threads and indexes, with the pages of the store that the system keeps mapped and takes back when it needs them',
    () => process.memoryUsage.rss(),
  ),
  one(
    'gauge',
    'process_start_time_seconds',
    'when the process started, in seconds since 1970',
    () => STARTED_AT,
  ),
  one('counter', 'process_cpu_seconds_total', 'processor time of the process, all threads', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  }),
]

/** A number of the whole process. */
function one(
  kind: SampledRow['kind'],
  name: string,
  help: string,
  valueOf: (sources: MetricSources) => number,
): SampledRow {
  return { name, kind, help, labels: [], values: sources => [[{}, valueOf(sources)]] }
}

/** A number of each environment. */
function ofEach(
  kind: SampledRow['kind'],
  name: string,
  help: string,
  ofAll: SampledRow['ofAll'] & string,
  valueOf: (figures: EnvironmentFigures) => number,
): SampledRow {
  return {
    name,
    kind,
    help,
    labels: OF_ENVIRONMENTS,
    ofAll,
    values: sources => Array.from(sources.environments(), figures => [namesOf(figures), valueOf(figures)]),
  }
}

/** Several of each, by another label. */
function ofEachKind(
  label: string,
  name: string,
  help: string,
  valuesOf: (figures: EnvironmentFigures) => Readonly<Record<string, number>>,
): SampledRow {
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
