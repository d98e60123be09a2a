/**
 * Loaded into a service under test, before anything else: watches its main thread and says, each time it is asked with
 * SIGUSR2, for how long that was kept from everything else since the last time. Milliseconds, one line of JSON.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'
import { PieceSize } from '../../src/services/management/piece-size.ts'
import { percentile } from '../lib/measure.ts'

/** What one look at the thread finds. */
export interface Watched {
  /** The longest stop of each piece of a purge. */
  readonly pieces: { count: number; rows: number; p50: number; p99: number; p999: number; max: number } | null
  /** Stops of the event loop, whatever caused them, as a timer of 1 ms sees them. */
  readonly loop: { readonly p99: number; readonly p999: number; readonly max: number }
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
  process.on('SIGUSR2', () => {
    // The timer itself is due every millisecond.
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - 1)
    const loop = { p99: late(delay.percentile(99)), p999: late(delay.percentile(99.9)), max: late(delay.max) }
    const [p50, p99, p999, max] = [0.5, 0.99, 0.999, 1].map(share => percentile(pieces, share))
    const told = pieces.length === 0 ? null : { count: pieces.length, rows, p50, p99, p999, max }
    process.stdout.write(`watched ${JSON.stringify({ pieces: told, loop })}\n`)
    pieces = []
    rows = 0
    delay.reset()
  })
}

if (isMainThread) watch()
