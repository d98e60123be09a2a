/** What this node tells of itself and of the others: metrics, the list of nodes, and what it did in the last minutes. */
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

  /** From now on the others hear of this node, and what it does is kept for some minutes. */
  begin(): void {
    this.#roster.begin()
    this.#recent.begin()
  }

  /** The node stands otherwise than it did. */
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
