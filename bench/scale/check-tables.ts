/**
 * Tables with the latency of single checks. The first shows one thread at different loads. The second shows
 * nodes with full copies, before and after the loss of a node.
 */
import { runFleet, wholeCopies } from './fleet.ts'
import { PLAIN_CHECK } from './http-thread.ts'
import { INPUTS as I } from './inputs.ts'
import { CHECKS, THREADS } from './sizes.ts'
import { ms, percent, printTable } from './tables.ts'

const LOADS = [0.3, 0.5, 0.7, 0.8, 0.9]
const NODES = [2, 3, 4]

export function printChecks(): void {
  const perThread = I.peakChecks.value * I.rateOfOneAmongMany.value
  printTable(
    `One HTTP thread of ${Math.round(perThread).toLocaleString('en-US')} checks/s, asked at random by strangers`,
    ['Checks/s', 'of its rate', 'p50', 'p99', 'p99.9'],
    LOADS.map(load => {
      const checksPerSecond = load * perThread
      const plan = { nodes: 1, threads: 1, pieces: wholeCopies(1), checksPerSecond }
      const { latencies } = runFleet(plan, 10)
      return [
        Math.round(checksPerSecond),
        percent(load),
        ms(latencies.at(0.5)),
        ms(latencies.at(0.99)),
        ms(latencies.at(0.999)),
      ]
    }),
  )
  printTable(
    `${CHECKS.toLocaleString('en-US')} single checks/s on nodes of ${THREADS} HTTP threads that have everything`,
    ['Nodes', 'busy', 'p50', 'p99', 'one lost: busy', 'p50', 'p99'],
    NODES.map(nodes => {
      const plan = { nodes, threads: THREADS, pieces: wholeCopies(nodes), checksPerSecond: CHECKS }
      const whole = runFleet(plan, 1.2)
      const without = nodes === 2 ? null : runFleet({ ...plan, lost: 0 }, 1.2)
      return [
        nodes,
        percent(whole.busy[1]!),
        ms(whole.latencies.at(0.5)),
        ms(whole.latencies.at(0.99)),
        without ? percent(without.busy[1]!) : 'over',
        without ? ms(without.latencies.at(0.5)) : null,
        without ? ms(without.latencies.at(0.99)) : null,
      ]
    }),
  )
  const threads = CHECKS / perThread
  process.stdout.write(
    `\n${threads.toFixed(1)} threads are busy with them; in bulks of 1,000 ${(CHECKS / (I.bulkChecks.value * I.rateOfOneAmongMany.value)).toFixed(1)}. ` +
      `A check is ${(PLAIN_CHECK * 1e6).toFixed(2)} µs of plain work.\n`,
  )
}
