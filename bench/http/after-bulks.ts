/**
 * Measures how long a single decision waits if ten bulks of 10,000 checks are completed directly before it.
 * There are two kinds of bulks: bulks in the usual form, and bulks that only the generic parser reads.
 * Everything runs on one core, without pool threads. The baseline server parses all bulks before it answers
 * the single request. If the service also read all bulks first, its wait would be 0.8 and 2.3 times that of
 * the baseline server.
 */
import { waitBehind, type WireRequest } from '../lib/load-generator.ts'
import { atMost, type Figure, median } from '../lib/measure.ts'
import { bulkRequests, singleRequests } from './drive-questions.ts'
import type { Stage } from './stage.ts'
import type { Result } from './throughput.ts'

const BULKS = 10
const CHECKS = 10_000
const ROUNDS = 9
/** Maximum ratio of the wait to that of the baseline server. */
const RATIO_MAX = { usual: 0.5, parsed: 1 }

export async function measureAfterBulks(stage: Stage): Promise<Result> {
  const service = await stage.service('one core')
  const floor = await stage.floor()
  const questions = stage.mixedQuestions
  const singles = singleRequests(questions.slice(0, 1))
  const bulks = bulkRequests(questions, CHECKS, 4)
  const kinds = { usual: bulks, parsed: bulks.map(withFieldTwice) }
  const figures: Figure[] = []
  const raw: Record<string, unknown> = {}
  for (const kind of ['usual', 'parsed'] as const) {
    const requests = kinds[kind]
    const ofService = {
      address: service.address,
      one: await stage.bursts(service.address, singles, 1),
      others: tenOf(await stage.bursts(service.address, requests, 1)),
    }
    const ofFloor = {
      address: floor.address,
      one: await stage.floorBursts(floor, singles, 1),
      others: tenOf(await stage.floorBursts(floor, requests, 1)),
    }
    const ms = { service: [] as number[], floor: [] as number[] }
    for (let round = -1; round < ROUNDS; round++) {
      const waits = {
        service: await waitBehind(ofService.address, ofService.one[0]!, ofService.others),
        floor: await waitBehind(ofFloor.address, ofFloor.one[0]!, ofFloor.others),
      }
      if (round < 0) continue
      ms.service.push(waits.service)
      ms.floor.push(waits.floor)
    }
    const ratio = median(ms.service.map((wait, round) => wait / ms.floor[round]!))
    const name = `wait behind ${BULKS} bulks of ${CHECKS.toLocaleString('en')} (${kind}), vs floor`
    figures.push(atMost(name, ratio, RATIO_MAX[kind], '×'))
    raw[kind] = { ...ms, serviceMs: median(ms.service), floorMs: median(ms.floor) }
  }
  return { figures, raw: { afterBulks: raw } }
}

/** The same checks in a form that only the generic parser reads, because a field occurs twice. */
function withFieldTwice({ body, ...request }: WireRequest): WireRequest {
  return { ...request, body: body.replaceAll('{"user":', '{"action":"read","user":') }
}

function tenOf<Item>(items: readonly Item[]): Item[] {
  return Array.from({ length: BULKS }, (_, index) => items[index % items.length]!)
}
