/**
 * Simulates the latency bench. One client has a number of connections, each with one check in flight. The
 * results are compared with the measured results.
 */
import { Random } from '#testing/data/random.ts'
import { Clock } from './clock.ts'
import { httpThread, measuringClient } from './http-thread.ts'
import { Latencies } from './latencies.ts'

export interface Rung {
  readonly checksPerSecond: number
  /** Latencies as `wrk` reports them. */
  readonly latencies: Latencies
}

export function climb(connections: number, seconds: number, seed = 1): Rung {
  const [clock, random, latencies] = [new Clock(), new Random(seed), new Latencies()]
  const [server, client] = [httpThread(clock, random), measuringClient(clock, random)]
  for (let nth = 0; nth < connections; nth += 1) {
    let sentAt = 0
    const question = {
      work: server.work,
      done: () => {
        client.station.take(answer)
      },
    }
    const answer = {
      work: client.work,
      done: () => {
        latencies.add(clock.now - sentAt)
        sentAt = clock.now
        server.station.take(question)
      },
    }
    server.station.take(question)
  }
  clock.run(seconds)
  return {
    checksPerSecond: latencies.count / seconds,
    latencies: latencies.corrected((seconds * connections) / latencies.count),
  }
}
