/**
 * Module that is preloaded into a service under test. It watches the main thread. On SIGUSR2, it prints one
 * line of JSON about how long the thread was blocked since the last signal, in milliseconds. Works only on
 * Linux, where the kernel reports how long a thread ran during a write, and how long it was ready while other
 * threads used the cores.
 */
import { openSync, readSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { PieceSize } from '../../src/scheduling/piece-size.ts'
import { percentile } from '../lib/measure.ts'

interface Spread {
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** Report on the thread since the last signal. */
export interface Watched {
  /** Durations of the chunks of a purge. */
  readonly pieces: { count: number; rows: number; p50: number; p99: number; p999: number; max: number } | null
  /** Processor time of each write to the store, and the time for which the write waited for a processor. */
  readonly writes: { readonly ran: Spread; readonly waited: Spread } | null
  /**
   * Delays of the event loop for any reason, measured with a timer of 1 ms. Also the longest time that the
   * thread ran between two ticks of this timer.
   */
  readonly loop: {
    readonly p99: number
    readonly p999: number
    readonly max: number
    readonly ranMax: number
  }
}

function watch(): void {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  let pieces: number[] = []
  let rows = 0
  const learn = PieceSize.prototype.learn
  PieceSize.prototype.learn = function (work, longestMs) {
    pieces.push(longestMs)
    rows += work
    learn.call(this, work, longestMs)
  }
  let ran: number[] = []
  let waited: number[] = []
  const scheduled = scheduledMs()
  const write = LmdbTables.prototype.write
  LmdbTables.prototype.write = function <T>(action: () => T, onApplied?: () => void): Promise<T> {
    const timed = (): T => {
      const before = scheduled()
      try {
        return action()
      } finally {
        const after = scheduled()
        ran.push(after.ran - before.ran)
        waited.push(after.waited - before.waited)
      }
    }
    return write.call(this, timed, onApplied) as Promise<T>
  }
  let tick = scheduled().ran
  let ranMax = 0
  setInterval(() => {
    const before = tick
    tick = scheduled().ran
    ranMax = Math.max(ranMax, tick - before)
  }, 1).unref()
  process.on('SIGUSR2', () => {
    // One millisecond is subtracted, because the timer is due after this time.
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - 1)
    const loop = {
      p99: late(delay.percentile(99)),
      p999: late(delay.percentile(99.9)),
      max: late(delay.max),
      ranMax,
    }
    ranMax = 0
    const [p50, p99, p999, max] = [0.5, 0.99, 0.999, 1].map(share => percentile(pieces, share))
    const told = pieces.length === 0 ? null : { count: pieces.length, rows, p50, p99, p999, max }
    const writes = ran.length === 0 ? null : { ran: spread(ran), waited: spread(waited) }
    process.stdout.write(`watched ${JSON.stringify({ pieces: told, writes, loop })}\n`)
    pieces = []
    ran = []
    waited = []
    rows = 0
    delay.reset()
  })
}

function spread(values: number[]): Spread {
  const [p99, p999, max] = [0.99, 0.999, 1].map(share => percentile(values, share))
  return { p99: p99!, p999: p999!, max: max! }
}

/**
 * Returns how long the calling thread has run and how long it has waited for a processor. Only the main
 * thread can call this function.
 */
function scheduledMs(): () => { readonly ran: number; readonly waited: number } {
  const file = openSync('/proc/thread-self/schedstat', 'r')
  const buffer = Buffer.alloc(100)
  return () => {
    const [ran, waited] = buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0)).split(' ')
    return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 }
  }
}

if (isMainThread) watch()
