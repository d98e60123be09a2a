/**
 * Creates the pools of one HTTP thread: one pool that runs parts of bulk requests and searches, and one that
 * parses large bodies.
 */
import type { ThreadSettings } from '#config/settings.ts'
import { takeOverLock } from '#engine/shared-index/recovery.ts'
import { longBodiesBytesMax } from '#http/edge/body-segments.ts'
import type { EngineReaders } from '#threads/indexes/engine-readers.ts'
import type { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { BodyPool } from '#threads/pool/body-pool.ts'
import { JobPool } from '#threads/pool/job-pool.ts'
import type { PoolThreadEvents } from '#threads/pool/pool-options.ts'
import { sumOf } from '#threads/pool/pool-threads.ts'
import type { ThreadTelemetry } from '#composition/node/thread-telemetry.ts'
import { WORKER_URLS } from '#composition/process/worker-urls.ts'

export class ThreadPools {
  readonly jobs: JobPool
  readonly bodies: BodyPool

  constructor(
    engines: EngineReaders,
    telemetry: ThreadTelemetry,
    parts: {
      readonly settings: ThreadSettings
      readonly tokenSecret: string
      readonly sliced: ThreadScheduler
    },
  ) {
    const { settings, tokenSecret, sliced } = parts
    const { observer, decisionLog } = telemetry
    const events = eventsOf(engines, telemetry)
    this.jobs = new JobPool({
      ...events,
      entry: WORKER_URLS.pool,
      threads: settings.poolThreads,
      jobsMax: settings.poolJobsMax,
      sliced,
      engine: environmentId => engines.shareable(environmentId),
    })
    const observed = decisionLog === null ? 'decisions' : 'checks'
    this.bodies = new BodyPool({
      ...events,
      entry: WORKER_URLS.bodies,
      data: { settings, tokenSecret, observes: observer === null ? 'nothing' : observed },
      bodyBytesMax: settings.bodyBytesMax,
      jobsMax: settings.poolJobsMax,
      bytesMax: longBodiesBytesMax(settings.bodyBytesMax),
      index: environmentId => engines.shareable(environmentId).index,
      observer,
    })
  }

  figures(): ReturnType<typeof sumOf> {
    return sumOf(this.jobs.figures(), this.bodies.figures())
  }

  /** Makes the threads release indexes that were removed. */
  letGo(): void {
    this.jobs.letGo()
    this.bodies.letGo()
  }

  async close(): Promise<void> {
    await Promise.all([this.jobs.close(), this.bodies.close()])
  }
}

function eventsOf(engines: EngineReaders, { log }: ThreadTelemetry): PoolThreadEvents {
  return {
    onIndexFault: fault => log.error({ fault }, 'a job of the pool failed'),
    onThreadEnd: (id, error) => {
      log.error({ err: error }, 'a thread of the pool exited; its jobs failed with an error')
      // If a thread died while it built a closure, it still holds the lock of the index. Without this call,
      // all threads would wait for the lock forever.
      for (const handle of engines.handles()) takeOverLock(handle, id + 1)
    },
    onStartFailure: error => {
      log.error(
        { err: error },
        'threads of the pool could not be started; the HTTP thread does their work and retries',
      )
    },
  }
}
