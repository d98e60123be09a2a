/** What queueing theory says of one server with arrivals at random: the judge of the simulation. Seconds, and a second. */

/** Time within which this share of the requests is answered where service takes random (exponential) times: M/M/1. */
export function markovResponseAt(share: number, arrivals: number, service: number): number {
  return -Math.log(1 - share) / (1 / service - arrivals)
}

/** Mean wait before a service of whichever distribution (Pollaczek and Khinchine): M/G/1. */
export function meanWait(
  arrivals: number,
  service: { readonly mean: number; readonly meanSquare: number },
): number {
  return (arrivals * service.meanSquare) / (2 * (1 - arrivals * service.mean))
}

/** How much longer the mean wait is where a server that has gone to sleep takes so long to wake, always the same. */
export function meanWaitForWaking(arrivals: number, wake: number): number {
  return (2 * wake + arrivals * wake ** 2) / (2 * (1 + arrivals * wake))
}

/** The share of requests that wait no longer than that where all services take the same time (Erlang): M/D/1. */
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
