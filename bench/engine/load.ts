/**
 * Measures how long loading 1M facts from rows takes, compared with plain Maps in the same run:
 *
 *     taskset -c 1 node --max-old-space-size=12000 bench/engine/load.ts
 *
 * The rows are generated before the measurement starts. The two engines alternate.
 */
import { PlainMaps } from '../lib/plain-maps.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import { Drive } from '../data/drive.ts'
import { atMost, median, publish, timeMs } from '../lib/measure.ts'

const ROUNDS = 5
const drive = new Drive('a third of W1', 0.343)
const rows = JSON.stringify([...drive.things(), ...drive.facts()])
const count = [...drive.facts()].length
const times: { map: number[]; shared: number[] } = { map: [], shared: [] }
for (let round = 0; round < ROUNDS; round++) {
  const forMap = JSON.parse(rows)
  times.map.push(timeMs(() => new PlainMaps().apply(forMap)))
  const forShared = JSON.parse(rows)
  times.shared.push(
    timeMs(() =>
      new SharedIndexWriter({ threadId: 1, secrets: { start: 7, multiplier: 0x2545f491 } }).apply(forShared),
    ),
  )
}
const [map, shared] = [median(times.map), median(times.shared)]
process.stdout.write(
  `${count} facts: baseline ${Math.round(map)} ms, shared index ${Math.round(shared)} ms\n`,
)
publish('load', [atMost(`load of ${count} facts vs baseline`, shared / map, 2, '×')], { count, times })
