/**
 * Reports the state of this node and of the other nodes: metrics, the list of nodes, and the activity of the
 * last minutes.
 */
import type { NodeQuestion } from '#decisions/node-question.ts'
import type { RecentFigures as RecentFiguresAnswer } from '#model/wire/node.ts'
import type { Metrics } from '#telemetry/metrics-scrape.ts'
import { INTERVAL_SECONDS, RecentFigures } from '#telemetry/recent-figures.ts'
import { NodeRoster, type RosterParts } from './node-roster.ts'

export class NodeAccount {
  readonly #metrics: Metrics
  readonly #self: RosterParts['self']
  readonly #roster: NodeRoster
  readonly #recent: RecentFigures

  constructor(metrics: Metrics, roster: RosterParts) {
    const { now, elapsedMs, self } = roster
    this.#metrics = metrics
    this.#self = self
    this.#roster = new NodeRoster(roster)
    this.#recent = new RecentFigures({
      threads: () => metrics.threads,
      stalenessMs: () => self().stale_ms,
      now,
      elapsedMs,
    })
  }

  /** Starts to publish heartbeats and to record the activity of this node. */
  begin(): void {
    this.#roster.begin()
    this.#recent.begin()
  }

  /** Called when the state of the node changes. */
  onChange(): void {
    this.#roster.beat()
  }

  close(): void {
    this.#roster.close()
    this.#recent.close()
  }

  async tell(question: NodeQuestion): Promise<string> {
    switch (question.about) {
      case 'metrics':
        return this.#metrics.text()
      case 'nodes':
        return JSON.stringify(await this.#roster.list(question.environmentId))
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
