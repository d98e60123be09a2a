/** API schemas of the nodes of a deployment, and of the activity of a node in the last minutes. */
import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from './common-fields.ts'

const name = Type.String({ description: 'Name of its host.' })

export const Node = Type.Object({
  id: Type.String({ format: 'uuid', description: 'ID of the process. It changes with each restart.' }),
  name,
  version: Type.String({ description: 'Release of the node.' }),
  started_at: Timestamp,
  seen_at: Type.String({
    format: 'date-time',
    description: 'Time of this report by the clock of the node. Each node reports every two seconds.',
  }),
  is_this: Type.Boolean({ description: 'Whether this node sent the response.' }),
  ready: Type.Boolean({ description: 'Whether the node makes decisions. Its `/ready` reports the same.' }),
  fresh: Type.Boolean({
    description: 'Whether the node receives the changes of other nodes. Its `/fresh` reports the same.',
  }),
  stale_ms: Type.Integer({
    minimum: 0,
    description:
      'Time in milliseconds for which the node might have missed changes of other nodes, in the environment with the largest lag. 0 on the embedded store.',
  }),
  http_threads: Type.Integer({ minimum: 1, description: 'Number of threads that make decisions.' }),
  revision: nullable(
    Type.String(),
    'Its state of the environment of the API key, in the form of `X-Revision`. Null: the key covers several environments, the ' +
      'node makes no decisions for the environment, or it is another node with more than 16 environments.',
  ),
})
export type Node = Static<typeof Node>

export const NodeList = Type.Object({
  nodes: Type.Array(Node, {
    description: 'Nodes that reported in the last ten seconds, the oldest first.',
  }),
  is_complete: Type.Boolean({ description: 'Whether these are all running nodes.' }),
  missing: nullable(Type.String(), 'Reason why there might be other nodes. Null if there are none.'),
})
export type NodeList = Static<typeof NodeList>

/** Name of the node that sends the response, as in the list of nodes. */
export const NodeName = Type.Object({ id: Uuid, name })

const NOT_COUNTED = 'null if `METRICS=off`'
const perSecond = Type.Number({ minimum: 0 })
const milliseconds = Type.Number({ minimum: 0 })

export const RequestRates = Type.Object({
  decisions: perSecond,
  management: perSecond,
  other: Type.Number({
    minimum: 0,
    description: 'Health, metrics, the reference, and requests without a route.',
  }),
})

export const CheckRates = Type.Object({ allow: perSecond, deny: perSecond })

export const LatencyQuantiles = Type.Object({ p50: milliseconds, p99: milliseconds })

export const LoopDelays = Type.Object({
  main: milliseconds,
  http: nullable(milliseconds, `Longest delay of all HTTP threads; ${NOT_COUNTED}.`),
})

export const RecentSample = Type.Object({
  at: Type.String({ format: 'date-time', description: 'End of its interval.' }),
  requests_per_second: nullable(
    RequestRates,
    `Per kind of request; ${NOT_COUNTED}, as in all following members.`,
  ),
  refused_per_second: nullable(perSecond, 'Responses with a status of 4xx.'),
  failed_per_second: nullable(perSecond, 'Responses with a status of 5xx.'),
  checks_per_second: nullable(CheckRates, 'Each check of a bulk or batch counts.'),
  latency_ms: nullable(
    LatencyQuantiles,
    'Duration of decisions, including lists and bulks, estimated from the buckets of ' +
      '`verdict_http_request_duration_seconds` like `histogram_quantile` of Prometheus. Also null without decisions.',
  ),
  commits_per_second: perSecond,
  loop_delay_p99_ms: LoopDelays,
  in_flight: nullable(Type.Integer(), 'Requests that are being received, processed or answered.'),
  connections: nullable(Type.Integer(), 'Open connections.'),
  stale_ms: Type.Integer({ minimum: 0, description: 'The same as in the list of nodes.' }),
})
export type RecentSample = Static<typeof RecentSample>

export const RecentFigures = Type.Object({
  node: NodeName,
  interval_seconds: Type.Integer({ description: 'Interval between samples.' }),
  samples: Type.Array(RecentSample, { description: 'Samples of the last 15 minutes, the oldest first.' }),
})
export type RecentFigures = Static<typeof RecentFigures>
