/**
 * Measures how the cost of a check inside the engine depends on the number of facts. Checks are single or
 * staged.
 */
import { Drive } from '../data/drive.ts'
import { median } from '../lib/measure.ts'
import type { Result } from '../http/throughput.ts'
import { loadShared } from './loading.ts'
import { fresh, timeSingle, timeStaged } from './questions.ts'

const SCALES = [0.01, 0.1, 1]
const PASSES = 5

export function measureSizes(): Result {
  const sizes = SCALES.map(scale => {
    const drive = new Drive('W1', scale)
    const { reader, facts } = loadShared(drive)
    const queries = [...drive.candidates(20_000, 'allowed'), ...drive.candidates(20_000, 'denied')]
    const passes = Array.from({ length: PASSES }, () => fresh(queries))
    return {
      facts,
      singleNs: median(passes.map(pass => timeSingle(reader, pass))),
      stagedNs: median(passes.map(pass => timeStaged(reader, pass))),
    }
  })
  return { figures: [], raw: { sizes } }
}
