/**
 * Figures, revisions and states of the environments of this node, for metrics and heartbeats. There are none
 * until the organization is open. `management/organization/environment-opening.ts` opens the environments.
 */
import type { OpenEnvironments } from '#management/organization/environment-opening.ts'
import { formatRevision } from '#model/revision.ts'
import type { Store } from '#store/store.ts'
import type { EnvironmentFigures, EnvironmentStatus } from '#telemetry/scrape-metrics.ts'
import type { SharedIndexes } from '#threads/indexes/shared-indexes.ts'

export class NodeEnvironments {
  #open: OpenEnvironments | null = null

  open(environments: OpenEnvironments): void {
    this.#open = environments
  }

  /** Does nothing before the organization is open, because no environment is ready then. */
  fail(...fault: Parameters<OpenEnvironments['fail']>): void {
    this.#open?.fail(...fault)
  }

  async close(): Promise<void> {
    await this.#open?.close()
  }

  /** Current figures of the environments that have an index. */
  *figures(indexes: SharedIndexes, store: Store): Iterable<EnvironmentFigures> {
    for (const { scope, projectKey, environmentKey } of this.#open?.all() ?? []) {
      const look = indexes.look(scope.environmentId)
      if (!look) continue
      const { assignments, tuples, records, bytes, ...figures } = look
      yield {
        ...figures,
        project: projectKey,
        environment: environmentKey,
        stalenessMs: store.stalenessMs(scope.environmentId),
        bytes: { header: bytes.header, graph: bytes.graph, closures: bytes.closures, schema: bytes.schema },
        facts: { assignments, tuples, records },
      }
    }
  }

  /**
   * Visible revision of each environment that has an index, by environment id. Empty if there are more than
   * `most` environments. O(environments).
   */
  revisions(indexes: SharedIndexes, most: number): Readonly<Record<string, string>> {
    const open = this.#open?.all() ?? []
    if (open.length > most) return {}
    const revisions: Record<string, string> = {}
    for (const { scope } of open) {
      const revision = indexes.revision(scope.environmentId)
      if (revision) revisions[scope.environmentId] = formatRevision(revision)
    }
    return revisions
  }

  states(): EnvironmentStatus[] {
    return (this.#open?.all() ?? []).map(({ projectKey, environmentKey, closure }) => ({
      project: projectKey,
      environment: environmentKey,
      isClosed: closure !== null,
    }))
  }
}
