/**
 * Formulas of queueing theory for one server with random arrivals. They are used to verify the simulation.
 * Times are in seconds, and rates are per second.
 */

/**
 * Time within which the given share of the requests completes, if service times are random with an
 * exponential distribution (M/M/1).
 */
export function markovResponseAt(share: number, arrivals: number, service: number): number {
  return -Math.log(1 - share) / (1 / service - arrivals)
}

/** Mean waiting time for any distribution of service times (M/G/1, formula of Pollaczek and Khinchine). */
export function meanWait(
  arrivals: number,
  service: { readonly mean: number; readonly meanSquare: number },
): number {
  return (arrivals * service.meanSquare) / (2 * (1 - arrivals * service.mean))
}

/** Increase of the mean waiting time if an idle server sleeps and takes a constant time to wake up. */
export function meanWaitForWaking(arrivals: number, wake: number): number {
  return (2 * wake + arrivals * wake ** 2) / (2 * (1 + arrivals * wake))
}

/**
 * Share of requests that wait at most the given time, if all service times are equal (M/D/1, formula of
 * Erlang).
 */
export function shareWithin(wait: number, arrivals: number, service: number): number {
  let sum = 0
  let term: number
  for (let nth = 0; nth <= Math.floor(wait / service); nth += 1) {
    const rest = arrivals * (wait - nth * service)
    term = Math.exp(rest)
    for (let k = 1; k <= nth; k += 1) term *= -rest / k
    sum += term
  }
  return (1 - arrivals * service) * sum
}
