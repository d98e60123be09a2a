/**
 * Histogram of durations. The width of each class is 1 %, so that the size of the histogram does not depend
 * on the number of values.
 */

const SHORTEST = 1e-7
const WIDTH = Math.log(1.01)
const CLASSES = 2_400

export class Latencies {
  readonly #counts = new Float64Array(CLASSES)
  #sum = 0
  count = 0

  add(seconds: number, times = 1): void {
    const nth = seconds <= SHORTEST ? 0 : Math.ceil(Math.log(seconds / SHORTEST) / WIDTH)
    this.#counts[Math.min(nth, CLASSES - 1)]! += times
    this.#sum += seconds * times
    this.count += times
  }

  get mean(): number {
    return this.#sum / this.count
  }

  /** Duration within which the given share of the values lies. */
  at(share: number): number {
    let left = this.count * share
    for (let nth = 0; nth < CLASSES; nth += 1) {
      left -= this.#counts[nth]!
      if (left <= 0) return secondsOf(nth)
    }
    return secondsOf(CLASSES - 1)
  }

  /**
   * Corrects latencies in the same way as `wrk`. If a client waited at least twice the usual time, it would
   * have sent further requests during this time, and these requests would also have waited.
   */
  corrected(usual: number): Latencies {
    const all = new Latencies()
    for (let nth = 0; nth < CLASSES; nth += 1) {
      const times = this.#counts[nth]!
      if (times === 0) continue
      const seconds = secondsOf(nth)
      all.add(seconds, times)
      if (seconds < 2 * usual) continue
      for (let rest = seconds - usual; rest > usual; rest -= usual) all.add(rest, times)
    }
    return all
  }
}

function secondsOf(nth: number): number {
  return SHORTEST * Math.exp(nth * WIDTH)
}
