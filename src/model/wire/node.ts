/** API schemas of the nodes of a deployment, and of a node's activity in the last minutes. */
import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from './building-blocks.ts'

const name = Type.String({ description: 'The name of its host.' })

export const Node = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Names the process: a restart is another node.' }),
  name,
  version: Type.String({ description: 'The release that runs there.' }),
  started_at: Timestamp,
  seen_at: Type.String({
    format: 'date-time',
    description: 'When it said all this, by its own clock: each node does every two seconds.',
  }),
  is_this: Type.Boolean({ description: 'Whether it is the node that answers.' }),
  ready: Type.Boolean({ description: 'Whether it makes decisions, as its `/ready` says.' }),
  fresh: Type.Boolean({
    description: 'Whether it hears what other nodes change, as its `/fresh` says.',
  }),
  stale_ms: Type.Integer({
    minimum: 0,
    description:
      'For how long it may have missed what others changed, in the environment furthest behind; 0 on the embedded store.',
  }),
  http_threads: Type.Integer({ minimum: 1, description: 'How many threads of it decide.' }),
  revision: nullable(
    Type.String(),
    'How far it is in the environment of the key in use, in the form of `X-Revision`. Null: the key is of no single environment, the ' +
      'environment is not decided on there, or, of another node, it has more than 16 environments.',
  ),
})
export type Node = Static<typeof Node>

export const NodeList = Type.Object({
  nodes: Type.Array(Node, {
    description: 'Those that said something in the last ten seconds, the oldest first.',
  }),
  is_complete: Type.Boolean({ description: 'Whether these are all nodes that live.' }),
  missing: nullable(Type.String(), 'Why there may be others; null: there are none.'),
})
export type NodeList = Static<typeof NodeList>

/** The node that responds, with the name from the list. */
export const NodeName = Type.Object({ id: Uuid, name })

const NOT_COUNTED = 'null: nothing is counted (`METRICS=off`)'
const perSecond = Type.Number({ minimum: 0 })
const milliseconds = Type.Number({ minimum: 0 })

export const RequestRates = Type.Object({
  decisions: perSecond,
  management: perSecond,
  other: Type.Number({ minimum: 0, description: 'Health, metrics, the reference, and what has no route.' }),
})

export const CheckRates = Type.Object({ allow: perSecond, deny: perSecond })

export const LatencyQuantiles = Type.Object({ p50: milliseconds, p99: milliseconds })

export const LoopDelays = Type.Object({
  main: milliseconds,
  http: nullable(milliseconds, `Of the HTTP thread where it is longest; ${NOT_COUNTED}.`),
})

export const RecentSample = Type.Object({
  at: Type.String({ format: 'date-time', description: 'When its interval ended.' }),
  requests_per_second: nullable(RequestRates, `By what was asked; ${NOT_COUNTED}, as in all that follows.`),
  refused_per_second: nullable(perSecond, 'Requests answered with 4xx.'),
  failed_per_second: nullable(perSecond, 'Requests answered with 5xx.'),
  checks_per_second: nullable(CheckRates, 'Those of bulks and batches one by one.'),
  latency_ms: nullable(
    LatencyQuantiles,
    'How long answered decisions took, lists and bulks among them, estimated from the buckets of ' +
      '`verdict_http_request_duration_seconds` as `histogram_quantile` of Prometheus does; null: there was none, too.',
  ),
  commits_per_second: perSecond,
  loop_delay_p99_ms: LoopDelays,
  in_flight: nullable(Type.Integer(), 'Requests being received, decided or answered.'),
  connections: nullable(Type.Integer(), 'Open connections.'),
  stale_ms: Type.Integer({ minimum: 0, description: 'As in the list of nodes.' }),
})
export type RecentSample = Static<typeof RecentSample>

export const RecentFigures = Type.Object({
  node: NodeName,
  interval_seconds: Type.Integer({ description: 'How far apart samples are.' }),
  samples: Type.Array(RecentSample, { description: 'Of the last 15 minutes, the oldest first.' }),
})
export type RecentFigures = Static<typeof RecentFigures>
