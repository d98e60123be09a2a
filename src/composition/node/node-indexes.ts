/**
 * Creates the shared indexes of this node: selects the thread that writes them, where they are saved, and
 * which threads are notified of them.
 */
import { randomInt } from 'node:crypto'
import { warmUpWriter } from '#engine/shared-index/warm-up.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Logger } from '#telemetry/log.ts'
import type { HttpThreads } from '#threads/channel/http-threads.ts'
import type { StalenessDeadlines } from '#threads/indexes/staleness-deadlines.ts'
import { SharedIndexes } from '#threads/indexes/shared-indexes.ts'
import type { StalenessWatch } from './staleness-watch.ts'
import { SavedIndexFiles } from '#composition/process/saved-index-files.ts'
import type { NodeEnvironments } from './environment-figures.ts'

/** Id of this thread in the lock word of an index. HTTP threads use their thread id plus one. */
const MAIN_THREAD_ID = 1

export function createIndexes(
  log: Logger,
  parts: {
    readonly threads: HttpThreads
    readonly environments: NodeEnvironments
    readonly deadlines: StalenessDeadlines
    readonly staleness: StalenessWatch
  },
): SharedIndexes {
  const { threads, environments, deadlines, staleness } = parts
  return new SharedIndexes({
    createWriter: () =>
      new SharedIndexWriter({
        threadId: MAIN_THREAD_ID,
        secrets: { start: randomInt(2 ** 31), multiplier: randomInt(2 ** 31) | 1 },
      }),
    kept: new SavedIndexFiles(MAIN_THREAD_ID, log),
    warmUpWriter,
    deadlineOf: environmentId => {
      const handle = deadlines.handleOf(environmentId)
      staleness.lookAt(environmentId)
      return handle
    },
    attach: (environmentId, index) => threads.attach(environmentId, index),
    detach: (environmentId, reason) => {
      deadlines.forget(environmentId)
      staleness.forget(environmentId)
      return threads.detach(environmentId, reason)
    },
    onFault: (environmentId, error) => environments.fail(environmentId, error),
  })
}
