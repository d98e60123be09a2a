/**
 * Reports the state of this node and of the other nodes: metrics, the list of nodes, and the activity of the
 * last minutes.
 */
import type { NodeQuestion } from '#decisions/questions/node-question.ts'
import type { RecentFigures as RecentFiguresAnswer } from '#model/wire/node.ts'
import type { Metrics } from '#telemetry/process-metrics.ts'
import { INTERVAL_SECONDS, FiguresRecorder } from '#telemetry/recent-figures.ts'
import { ClusterMembership, type ClusterMembershipParts } from './cluster-membership.ts'

export class NodeStatus {
  readonly #metrics: Metrics
  readonly #self: ClusterMembershipParts['self']
  readonly #membership: ClusterMembership
  readonly #recent: FiguresRecorder

  constructor(metrics: Metrics, parts: ClusterMembershipParts) {
    const { now, elapsedMs, self } = parts
    this.#metrics = metrics
    this.#self = self
    this.#membership = new ClusterMembership(parts)
    this.#recent = new FiguresRecorder({
      threads: () => metrics.threads,
      stalenessMs: () => self().stale_ms,
      now,
      elapsedMs,
    })
  }

  /** Starts to publish heartbeats and to record the activity of this node. */
  begin(): void {
    this.#membership.begin()
    this.#recent.begin()
  }

  /** Called when the state of the node changes. */
  onChange(): void {
    this.#membership.beat()
  }

  close(): void {
    this.#membership.close()
    this.#recent.close()
  }

  async answer(question: NodeQuestion): Promise<string> {
    switch (question.about) {
      case 'metrics':
        return this.#metrics.text()
      case 'nodes':
        return JSON.stringify(await this.#membership.list(question.environmentId))
      case 'recent':
        return JSON.stringify(this.#recentAnswer())
    }
  }

  #recentAnswer(): RecentFiguresAnswer {
    const { id, name } = this.#self()
    const samples = this.#recent
      .samples()
      .map(({ at, ...figures }) => ({ at: new Date(at).toISOString(), ...figures }))
    return { node: { id, name }, interval_seconds: INTERVAL_SECONDS, samples }
  }
}
