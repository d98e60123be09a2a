/**
 * Results of queueing theory for one server with random arrivals, used to verify the simulation. Times are in
 * seconds, rates per second.
 */

/** Time within which this share of the requests completes, for random (exponential) service times: M/M/1. */
export function markovResponseAt(share: number, arrivals: number, service: number): number {
  return -Math.log(1 - share) / (1 / service - arrivals)
}

/** Mean wait for any distribution of service times (Pollaczek and Khinchine): M/G/1. */
export function meanWait(
  arrivals: number,
  service: { readonly mean: number; readonly meanSquare: number },
): number {
  return (arrivals * service.meanSquare) / (2 * (1 - arrivals * service.mean))
}

/** Increase of the mean wait if an idle server sleeps and takes a constant time to wake. */
export function meanWaitForWaking(arrivals: number, wake: number): number {
  return (2 * wake + arrivals * wake ** 2) / (2 * (1 + arrivals * wake))
}

/** Share of requests that wait at most this long if all service times are equal (Erlang): M/D/1. */
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
