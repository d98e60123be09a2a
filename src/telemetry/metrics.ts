/**
 * The metrics of the process, as `/metrics` tells them: what the threads count, added up, and what the main thread knows of
 * environments, commits and the process. Made anew for each scrape; nothing is computed in between.
 */
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { ThreadCounters, type ThreadCountersHandle } from './thread-counters.ts'

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
  /** Seconds each thread has been at work since it started, by its name. */
  activeSeconds(): Iterable<readonly [thread: string, seconds: number]>
}

export type CommitOutcome = 'done' | 'conflict' | 'failed'

const COMMIT_BOUNDS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

export class Metrics {
  /** For parts of the process that keep metrics of their own. */
  readonly registry = new Registry()
  readonly #threads: (readonly [name: string, counters: ThreadCounters])[] = []
  readonly #commits: Counter<'outcome'>
  readonly #commitDuration: Histogram

  constructor(sources: MetricSources) {
    const registers = [this.registry]
    this.#commits = new Counter({
      name: 'verdict_commits_total',
      help: 'Commits: done, lost against another writer and tried again, or failed.',
      labelNames: ['outcome'],
      registers,
    })
    for (const outcome of ['done', 'conflict', 'failed']) this.#commits.inc({ outcome }, 0)
    this.#commitDuration = new Histogram({
      name: 'verdict_commit_duration_seconds',
      help: 'From sending a commit to the store until it was durable.',
      buckets: COMMIT_BOUNDS_SECONDS,
      registers,
    })
    sampleService(this.registry, sources)
    sampleEnvironments(this.registry, sources)
    sampleProcess(this.registry)
  }

  /** Adds what a thread counts from now on. */
  addThread(name: string, handle: ThreadCountersHandle): void {
    this.#threads.push([name, new ThreadCounters(handle)])
  }

  observeCommit(outcome: CommitOutcome, elapsedMs: number): void {
    this.#commits.inc({ outcome })
    if (outcome === 'done') this.#commitDuration.observe(elapsedMs / 1_000)
  }

  /** Everything, in the text format of Prometheus. O(endpoints called + environments). */
  async text(): Promise<string> {
    const counted = this.#threads.map(([name, counters]) => counters.metrics(name))
    const own = await this.registry.getMetricsAsJSON()
    return AggregatorRegistry.aggregate([...counted, own]).metrics()
  }
}

type Labels = Readonly<Record<string, string>>

/** A metric whose values are looked up at each scrape. */
interface Sampled {
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly string[]
  values(): Iterable<readonly [Labels, number]>
}

function sampled(registry: Registry, { name, help, labelNames = [], values }: Sampled): void {
  const isCounter = name.endsWith('_total')
  const options = { name, help, labelNames, registers: [] }
  const metric = isCounter
    ? new Counter({ ...options, collect: read })
    : new Gauge({ ...options, collect: read })
  registry.registerMetric(metric)

  function read(): void {
    metric.reset()
    for (const [labels, value] of values()) metric.inc(labels, value)
  }
}

function sampleService(registry: Registry, sources: MetricSources): void {
  sampled(registry, {
    name: 'verdict_ready',
    help: '1 while /ready says yes.',
    values: () => [[{}, sources.isReady() ? 1 : 0]],
  })
  sampled(registry, {
    name: 'verdict_fresh',
    help: '1 while /fresh says yes: this node hears what others change, in every environment.',
    values: () => [[{}, sources.isFresh() ? 1 : 0]],
  })
  sampled(registry, {
    name: 'verdict_management_in_flight',
    help: 'Management requests that have not been answered yet.',
    values: () => [[{}, sources.managementInFlight()]],
  })
  sampled(registry, {
    name: 'verdict_histories_replaced_total',
    help: 'Histories of the store that were replaced by others: restored, rewound or begun anew.',
    values: () => [[{}, sources.replacedHistories()]],
  })
  sampled(registry, {
    name: 'verdict_thread_active_seconds_total',
    help: 'Time a thread was at work and not waiting for events.',
    labelNames: ['thread'],
    values: () => Array.from(sources.activeSeconds(), ([thread, seconds]) => [{ thread }, seconds]),
  })
}

function sampleEnvironments(registry: Registry, sources: MetricSources): void {
  const ofEach = (name: string, help: string, valueOf: (figures: EnvironmentFigures) => number): void =>
    sampled(registry, {
      name,
      help,
      labelNames: ['project', 'environment'],
      values: () =>
        Array.from(sources.environments(), figures => [
          { project: figures.project, environment: figures.environment },
          valueOf(figures),
        ]),
    })
  sampled(registry, {
    name: 'verdict_environment_closed',
    help: '1 while an environment cannot be decided on, 0 while it can.',
    labelNames: ['project', 'environment'],
    values: () =>
      Array.from(sources.environmentStates(), ({ project, environment, isClosed }) => [
        { project, environment },
        isClosed ? 1 : 0,
      ]),
  })
  ofEach('verdict_revision', 'Newest commit in the index.', figures => figures.sequence)
  ofEach(
    'verdict_staleness_seconds',
    'For how long changes made on other nodes may have been missed.',
    figures => figures.stalenessMs / 1_000,
  )
  ofEach(
    'verdict_closures_built_total',
    'Role closures built, ahead of questions or for one.',
    figures => figures.closuresBuilt,
  )
  ofEach(
    'verdict_closure_containers_voided_total',
    'Containers whose closures a change made void.',
    figures => figures.containersVoided,
  )
  ofEach(
    'verdict_closure_tenants_voided_total',
    'Tenants all of whose closures a change made void at once.',
    figures => figures.tenantsVoided,
  )
  const ofEachKind = (
    name: string,
    help: string,
    label: string,
    valuesOf: (figures: EnvironmentFigures) => Readonly<Record<string, number>>,
  ): void =>
    sampled(registry, {
      name,
      help,
      labelNames: ['project', 'environment', label],
      values: () =>
        Array.from(sources.environments()).flatMap(figures =>
          Object.entries(valuesOf(figures)).map(([kind, value]): readonly [Labels, number] => [
            { project: figures.project, environment: figures.environment, [label]: kind },
            value,
          ]),
        ),
    })
  ofEachKind(
    'verdict_index_bytes',
    'Bytes of shared memory an index has grown to, by region.',
    'region',
    figures => figures.bytes,
  )
  ofEachKind('verdict_index_facts', 'What stands in an index, by kind.', 'kind', figures => figures.facts)
}

/** Under the names that everybody uses for them. */
function sampleProcess(registry: Registry): void {
  const startedAt = Math.round(Date.now() / 1_000 - process.uptime())
  sampled(registry, {
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process, all threads and indexes.',
    values: () => [[{}, process.memoryUsage.rss()]],
  })
  sampled(registry, {
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
    values: () => [[{}, startedAt]],
  })
  sampled(registry, {
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process, all threads.',
    values: () => {
      const { user, system } = process.cpuUsage()
      return [[{}, (user + system) / 1_000_000]]
    },
  })
}
