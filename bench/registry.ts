/** Every bench there is: what it shows, for how long it runs, and how it is started. `run.ts` starts them. */

export interface Bench {
  readonly name: string
  readonly shows: string
  /** On the reference machine, two cores. */
  readonly takes: string
  /** Below `bench`; null: the claims, which vitest runs. */
  readonly program: string | null
  /** What the program is told before the caller's own options. */
  readonly args?: readonly string[]
  /** Flags of Node. */
  readonly flags?: readonly string[]
  /** Has a core to itself, the second; what it starts is pinned by the program. Others have both. */
  readonly isPinned?: true
  /** Memory from huge pages, as the service asks for it. */
  readonly hasHugePages?: true
}

const LARGE_HEAP = '--max-old-space-size=12000'

/** A part of `service.ts`, which takes the names of several and shares what they measure among them. */
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
  ofService('single', '2 min', 'single decisions over HTTP against the floor; needs wrk'),
  ofService('bulk', '2 min', 'bulks of 10 to 10,000 against the floor, and what a check costs in each'),
  ofService('evaluations', '30 s', 'AuthZEN evaluations of 1,000 against the floor'),
  ofService('latency', '3 min', 'latency of single decisions against load, and near the peak; needs wrk'),
  ofService('pool', '1 min', 'a bulk of 10,000 with a pool thread on a second core'),
  ofService('beside-bulks', '1 min', 'p99 of single decisions beside bulks of 10,000'),
  ofService('behind-bulks', '1 min', 'a single decision behind ten bulks that become whole together'),
  ofService('beside-writes', '1 min', 'p99 of single decisions beside 2,000 changes a second'),
  ofService('facts', '1 min', 'what a check costs in the engine against the number of facts'),
  ofService('beside-hostiles', '5 min', 'what a polite tenant feels of each hostile one'),
  ofService(
    'condition-peers',
    '2 min',
    'rules of W6 against Cerbos, on one core each; needs wrk, installs Cerbos',
  ),
  ofService('ruled-bulk', '2 min', 'bulks of 1,000 with attributes and rules against the floor'),
  ofService('peers', '20 min', 'the same model and questions elsewhere; installs what it compares with'),
  {
    name: 'changes',
    shows:
      '5,000 changes a second told to 100 connections, and single decisions beside them; with `floods` large commits',
    takes: '1 min',
    program: 'http/changes.ts',
  },
  {
    name: 'ends',
    shows: 'grants that end: their memory, their load, and 100,000 that end in one second',
    takes: '1 min',
    program: 'engine/ends.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'checks',
    shows: 'checks, memory and load of the index against plain Maps',
    takes: '5 min',
    program: 'engine/checks.ts',
    flags: ['--expose-gc', LARGE_HEAP],
    isPinned: true,
    hasHugePages: true,
  },
  {
    name: 'drive-alone',
    shows: 'ns a check of one size in a process of its own; needs SCALE',
    takes: '1 min',
    program: 'engine/drive-alone.ts',
    flags: [LARGE_HEAP],
    isPinned: true,
    hasHugePages: true,
  },
  {
    name: 'race',
    shows: 'the index of several checkouts in turns, to see what a part of it is worth; needs paths',
    takes: '1 min',
    program: 'engine/race.ts',
    flags: [LARGE_HEAP],
    isPinned: true,
    hasHugePages: true,
  },
  {
    name: 'rules',
    shows: 'what rules on attributes cost a question, and attributes of memory',
    takes: '2 min',
    program: 'engine/rules.ts',
    flags: [LARGE_HEAP],
    isPinned: true,
    hasHugePages: true,
  },
  {
    name: 'condition-costs',
    shows: 'processor time of a question that takes all its steps, for each operator',
    takes: '1 min',
    program: 'engine/condition-costs.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'load',
    shows: 'loading 1M facts from rows, against plain Maps',
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
      'searches with rules over a million instances and users: by lists of owners, by a scan; what lists cost the writer',
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
    shows: 'changes of a schema as large as one may be',
    takes: '3 min',
    program: 'engine/schema-ceilings.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'rule-ceilings',
    shows: 'changes of condition sets and rules as many as there may be',
    takes: '2 min',
    program: 'engine/schema-ceilings.ts',
    args: ['rules'],
    flags: [LARGE_HEAP],
  },
  {
    name: 'schema-changes',
    shows: 'changes of the schema on millions of facts: writer, reader, closures built anew',
    takes: '3 min',
    program: 'engine/schema-changes.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'reader-stalls',
    shows: 'how long readers are stopped by what the writer does at its worst',
    takes: '5 min',
    program: 'engine/reader-stalls.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'reader-under-writes',
    shows: 'what a reader in another thread feels of the writer, and how soon it sees a change',
    takes: '2 min',
    program: 'engine/reader-under-writes.ts',
    flags: ['--max-old-space-size=8000'],
  },
  {
    name: 'torn-reads',
    shows: 'no wrong answer beside a writer without pause (not a measurement)',
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
    shows: 'millions of bodies read from bytes and the ordinary way (not a measurement)',
    takes: '10 min',
    program: 'http/fuzz-bodies.ts',
  },
  {
    name: 'hostile-bodies',
    shows: '200,000 hostile requests: no hang, no death, no wrong answer (not a measurement)',
    takes: '5 min',
    program: 'http/hostile-bodies.ts',
  },
  {
    name: 'metrics-cost',
    shows: 'what counting costs a single decision',
    takes: '2 min',
    program: 'http/metrics-cost.ts',
    isPinned: true,
  },
  {
    name: 'drive-service',
    shows: 'a service with W1 in it, to be asked by hand; runs until it is ended',
    takes: 'for ever',
    program: 'http/drive-service.ts',
    flags: [LARGE_HEAP],
    hasHugePages: true,
  },
  {
    name: 'beside-lists',
    shows: 'what single decisions wait for while another environment asks for the longest lists',
    takes: '5 min',
    program: 'hostile/beside.ts',
  },
  {
    name: 'starts',
    shows:
      'starts of the command line and of the service, against that of Node; beside other checkouts, if named',
    takes: '3 min',
    program: 'starts/starts.ts',
    flags: [LARGE_HEAP],
  },
  {
    name: 'audit-cost',
    shows: 'what the audit log costs a commit',
    takes: '1 min',
    program: 'management/audit-cost.ts',
  },
  {
    name: 'deletions',
    shows: 'deleting what very many depend on: tenant, type, role, relation, user, or what rules name',
    takes: '3 min each',
    program: 'management/deletions.ts',
  },
  {
    name: 'rule-changes',
    shows:
      'processor time of one rule or set changed, with 100 rules and with 50,000; of another checkout, if named',
    takes: '2 min',
    program: 'management/rule-changes.ts',
  },
  {
    name: 'writes',
    shows:
      'writes a second, single and in bulks, on each store, and what is kept of them; peers; other checkouts, if named',
    takes: '4 min',
    program: 'management/writes.ts',
  },
  {
    name: 'import',
    shows:
      'a million facts imported over HTTP and exported again, and what is kept of each; beside other checkouts, if named',
    takes: '3 min',
    program: 'management/import.ts',
  },
  {
    name: 'pages',
    shows: 'a page of a list in a small environment and in a large one',
    takes: '10 min',
    program: 'management/pages.ts',
  },
  {
    name: 'first-load',
    shows: 'how long a node takes to be ready beside a Redis with 3M facts',
    takes: '10 min',
    program: 'redis/first-load.ts',
    flags: ['--max-old-space-size=8000'],
  },
  {
    name: 'propagation',
    shows: 'how soon a change on one node is decided by on another',
    takes: '2 min',
    program: 'redis/propagation.ts',
  },
  {
    name: 'scale',
    shows: 'a fleet for 10^9 facts and 10^6 checks a second, simulated from measured rates',
    takes: '1 min',
    program: 'scale/scale.ts',
  },
  {
    name: 'scale-rates',
    shows:
      'the rates that the simulation needs and no other bench has: index, followers, what a commit costs Redis',
    takes: '1 min',
    program: 'scale/rates.ts',
    flags: [LARGE_HEAP],
    hasHugePages: true,
  },
  {
    name: 'running-service',
    shows: 'autocannon on a service that runs, every answer looked at; needs --url and --key',
    takes: '40 s',
    program: 'load/load.ts',
  },
  {
    name: 'soak',
    shows: '85 % of the peak, every answer compared, parts killed',
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
    shows: 'what is said of allocation, collections and times, judged; on a quiet machine',
    takes: '2 min',
    program: null,
  },
]

/** What runs when nothing is asked for by name: a quarter of an hour. */
export const USUAL = [
  'single',
  'bulk',
  'evaluations',
  'latency',
  'pool',
  'beside-bulks',
  'behind-bulks',
  'beside-writes',
  'facts',
  'writes',
]
