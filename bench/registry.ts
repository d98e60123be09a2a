/** List of all benches: what each shows, how long it takes, and its command. `run.ts` starts the benches. */

export interface Bench {
  readonly name: string
  readonly shows: string
  /** Duration of the bench on the reference machine, which has two cores. */
  readonly takes: string
  /** Path of the program below `bench`. Null for the claims, which vitest runs. */
  readonly program: string | null
  /** Arguments of the program. The options of the user follow them. */
  readonly args?: readonly string[]
  /** Flags of Node. */
  readonly flags?: readonly string[]
  /**
   * Whether the bench runs on the second core only. The program itself assigns cores to the processes that it
   * starts. All other benches use both cores.
   */
  readonly isPinned?: true
  /** Whether memory is allocated in huge pages, as in the service. */
  readonly hasHugePages?: true
}

const LARGE_HEAP = '--max-old-space-size=12000'

/**
 * A bench that is a part of `service.ts`. If several of these benches are selected, the program runs them
 * together, and they share measurements.
 */
const ofService = (name: string, takes: string, shows: string): Bench => ({
  name,
  shows,
  takes,
  program: 'service.ts',
  args: [name],
  flags: [LARGE_HEAP],
  isPinned: true,
  hasHugePages: true,
})

export const BENCHES: readonly Bench[] = [
  ofService('single', '2 min', 'single decisions over HTTP, relative to the baseline server; needs wrk'),
  ofService(
    'bulk',
    '2 min',
    'bulks of 10 to 10,000 checks, relative to the baseline server, and the cost per check',
  ),
  ofService('evaluations', '30 s', 'AuthZEN evaluations of 1,000, relative to the baseline server'),
  ofService('latency', '3 min', 'latency of single decisions by load, and near the peak; needs wrk'),
  ofService('pool', '1 min', 'a bulk of 10,000 checks with a pool thread on a second core'),
  ofService('with-bulks', '1 min', 'p99 of single decisions during bulks of 10,000 checks'),
  ofService('plans', '2 min', 'plans relative to decisions and searches; p99 of decisions during plans'),
  ofService('after-bulks', '1 min', 'a single decision after ten bulks that arrive together'),
  ofService('with-writes', '1 min', 'p99 of single decisions during 2,000 changes per second'),
  ofService('facts', '1 min', 'cost of a check in the engine by the number of facts'),
  ofService('beside-hostiles', '20 min', 'effect of each noisy neighbor on a well-behaved tenant'),
  ofService(
    'condition-peers',
    '2 min',
    'rules of W6 in Verdict and in Cerbos, on one core each; needs wrk, installs Cerbos',
  ),
  ofService(
    'ruled-bulk',
    '2 min',
    'bulks of 1,000 with attributes and rules, relative to the baseline server',
  ),
  ofService('peers', '20 min', 'the same model and checks in other products, which the bench installs'),
  {
    name: 'changes',
    shows: '5,000 changes per second to 100 connections, and decisions; or, with `floods`, large commits',
    takes: '1 min',
    program: 'http/changes.ts',
  },
  {
    name: 'expiry',
    shows: 'expiring grants: memory, load, and 100,000 that expire within one second',
    takes: '1 min',
    program: 'engine/expiry.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'checks',
    shows: 'checks, memory and load of the index, relative to plain Maps',
    takes: '5 min',
    program: 'engine/checks.ts',
    flags: ['--expose-gc', LARGE_HEAP],
    isPinned: true,
    hasHugePages: true,
  },
  {
    name: 'drive-alone',
    shows: 'nanoseconds per check with one size of the data set, in a separate process; needs SCALE',
    takes: '1 min',
    program: 'engine/drive-alone.ts',
    flags: [LARGE_HEAP],
    isPinned: true,
    hasHugePages: true,
  },
  {
    name: 'race',
    shows: 'the indexes of several checkouts, alternately, to compare their speed; needs paths',
    takes: '1 min',
    program: 'engine/race.ts',
    flags: [LARGE_HEAP],
    isPinned: true,
    hasHugePages: true,
  },
  {
    name: 'rules',
    shows: 'cost of rules per check, and memory of attributes',
    takes: '2 min',
    program: 'engine/rules.ts',
    flags: [LARGE_HEAP],
    isPinned: true,
    hasHugePages: true,
  },
  {
    name: 'condition-costs',
    shows: 'processor time of a check that uses all its steps, for each operator',
    takes: '1 min',
    program: 'engine/condition-costs.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'load',
    shows: 'loading 1M facts from rows, relative to plain Maps',
    takes: '1 min',
    program: 'engine/load.ts',
    flags: [LARGE_HEAP],
    isPinned: true,
  },
  {
    name: 'searches',
    shows: 'first pages, following pages and a full walk of 1M results',
    takes: '2 min',
    program: 'engine/searches.ts',
    flags: [LARGE_HEAP],
    isPinned: true,
  },
  {
    name: 'ruled-searches',
    shows:
      'searches with rules over 1M instances and users: by index, by scan; cost of the index for the writer',
    takes: '2 min',
    program: 'engine/ruled-searches.ts',
    flags: [LARGE_HEAP],
    isPinned: true,
  },
  {
    name: 'profiles',
    shows: 'a million users with five attributes each: memory, load, decisions by a rule',
    takes: '1 min',
    program: 'engine/profiles.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'schema-ceilings',
    shows: 'changes of a schema of maximum size',
    takes: '3 min',
    program: 'engine/schema-ceilings.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'rule-ceilings',
    shows: 'changes of the maximum number of condition sets and rules',
    takes: '2 min',
    program: 'engine/schema-ceilings.ts',
    args: ['rules'],
    flags: [LARGE_HEAP],
  },
  {
    name: 'schema-changes',
    shows: 'changes of the schema with millions of facts: writer, reader, rebuilt closures',
    takes: '3 min',
    program: 'engine/schema-changes.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'reader-stalls',
    shows: 'longest pauses of readers because of the writer',
    takes: '5 min',
    program: 'engine/reader-stalls.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'reader-under-writes',
    shows: 'effect of the writer on a reader in another thread, and the delay of changes',
    takes: '2 min',
    program: 'engine/reader-under-writes.ts',
    flags: ['--max-old-space-size=8000'],
  },
  {
    name: 'torn-reads',
    shows: 'no wrong decision during continuous writes (not a measurement)',
    takes: '3 min',
    program: 'engine/torn-reads.ts',
  },
  {
    name: 'differential',
    shows: 'a million checks against the oracle (not a measurement)',
    takes: '10 min',
    program: 'engine/differential.ts',
  },
  {
    name: 'rules-differential',
    shows: 'a million decisions by rules against the oracle (not a measurement)',
    takes: '10 min',
    program: 'engine/rules-differential.ts',
  },
  {
    name: 'fuzz-bodies',
    shows: 'millions of bodies read from bytes and by the standard parser (not a measurement)',
    takes: '10 min',
    program: 'http/fuzz-bodies.ts',
  },
  {
    name: 'hostile-bodies',
    shows: '200,000 hostile requests without a hang, crash or wrong response (not a measurement)',
    takes: '5 min',
    program: 'http/hostile-bodies.ts',
  },
  {
    name: 'metrics-cost',
    shows: 'cost of metrics per single decision',
    takes: '2 min',
    program: 'http/metrics-cost.ts',
    isPinned: true,
  },
  {
    name: 'administration',
    shows:
      'decisions with sign-in, sessions and claimed actors, and management in a session; also vs a checkout, if named',
    takes: '5 min',
    program: 'http/administration.ts',
    isPinned: true,
    hasHugePages: true,
  },
  {
    name: 'drive-service',
    shows: 'a service with data set W1 for manual requests; runs until it is stopped',
    takes: 'unlimited',
    program: 'http/drive-service.ts',
    flags: [LARGE_HEAP],
    hasHugePages: true,
  },
  {
    name: 'with-lists',
    shows: 'delay of single decisions while another environment requests the longest lists',
    takes: '5 min',
    program: 'hostile/with-lists.ts',
  },
  {
    name: 'starts',
    shows:
      'start times of the command line and the service, relative to Node; also of other checkouts, if named',
    takes: '3 min',
    program: 'starts/starts.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'audit-cost',
    shows: 'cost of the audit log per commit',
    takes: '1 min',
    program: 'management/audit-cost.ts',
  },
  {
    name: 'deletions',
    shows:
      'deletion of entities with many dependents: tenant, type, role, relation, user, or entities in rules',
    takes: '3 min each',
    program: 'management/deletions.ts',
  },
  {
    name: 'rule-changes',
    shows:
      'processor time of a change of one rule or set, with 100 and 50,000 rules; for another checkout, if named',
    takes: '2 min',
    program: 'management/rule-changes.ts',
  },
  {
    name: 'writes',
    shows:
      'single writes and bulks per second and their storage, for each store; other services and checkouts',
    takes: '4 min',
    program: 'management/writes.ts',
  },
  {
    name: 'import',
    shows: 'import and export of 1M facts over HTTP, and their storage; also by other checkouts, if named',
    takes: '3 min',
    program: 'management/import.ts',
  },
  {
    name: 'pages',
    shows: 'a page of a list in a small and in a large environment',
    takes: '10 min',
    program: 'management/pages.ts',
  },
  {
    name: 'first-load',
    shows: 'time until a node is ready with 3M facts in Redis',
    takes: '10 min',
    program: 'redis/first-load.ts',
    flags: ['--max-old-space-size=8000'],
  },
  {
    name: 'propagation',
    shows: 'delay until a change on one node affects decisions on another',
    takes: '2 min',
    program: 'redis/propagation.ts',
  },
  {
    name: 'scale',
    shows: 'a fleet for 10^9 facts and 10^6 checks per second, simulated from measured rates',
    takes: '1 min',
    program: 'scale/scale.ts',
  },
  {
    name: 'scale-rates',
    shows: 'further rates for the simulation: index, followers, cost of a commit in Redis',
    takes: '1 min',
    program: 'scale/rates.ts',
    flags: [LARGE_HEAP],
    hasHugePages: true,
  },
  {
    name: 'running-service',
    shows: 'autocannon with a running service, every response verified; needs --url and --key',
    takes: '40 s',
    program: 'load/load.ts',
  },
  {
    name: 'soak',
    shows: 'load of 85 % of the peak, with every response verified, while components are killed',
    takes: '10 min',
    program: 'soak/soak.ts',
    isPinned: true,
  },
  {
    name: 'plots',
    shows: 'draws docs/plots from the results of this machine',
    takes: '1 s',
    program: 'plots.ts',
  },
  {
    name: 'claims',
    shows: 'tests of limits for allocation, garbage collection and times; needs an idle machine',
    takes: '2 min',
    program: null,
  },
]

/** Benches that run if no name is given. Together, they take about 15 minutes. */
export const USUAL = [
  'single',
  'bulk',
  'evaluations',
  'latency',
  'pool',
  'with-bulks',
  'after-bulks',
  'with-writes',
  'facts',
  'writes',
]
