/**
 * Measures bulks in an environment with attributes and rules (W6), compared with the baseline server on the
 * same bodies. In one form, the checks contain only keys. In the other form, each check also contains a
 * context and attributes of its user and resource. Roles allow half of the checks, a rule allows a quarter,
 * and a quarter is denied.
 */
import type { Query } from '#model/decision.ts'
import { RuledDrive } from '../data/ruled-drive.ts'
import { loadBare } from '../engine/loading.ts'
import { type JudgedQuestion, ruledQuestions, withoutRules } from '../engine/ruled-questions.ts'
import { closedLoop, type WireRequest } from '../lib/load-generator.ts'
import { atLeast, median } from '../lib/measure.ts'
import type { ServerProcess } from './server-process.ts'
import type { RacedLoad, Stage } from './stage.ts'
import { ratioOf, type Result } from './throughput.ts'

const QUESTIONS = 20_000
const SIZE = 1_000
const BULKS = 40
const LOAD = { pipelining: 1, connections: 8, seconds: 0.5 }
const ROUNDS = 9
/**
 * Number and length of the rounds that measure processor time. Processor time is counted in hundredths of a
 * second. It does not depend on other work on the machine.
 */
const CPU_ROUNDS = 5
const CPU_SECONDS = 2
const KEYS_MIN = 0.6
const SENT_MIN = 0.5
const TENANT = 'default'
const CONTEXT = { ip: '10.1.2.3', device: 'laptop', trusted: true }

export async function measureRuledBulk(stage: Stage): Promise<Result> {
  const dataset = new RuledDrive('W6', stage.scale)
  const bare = loadBare(withoutRules(dataset))
  const questions = ruledQuestions(dataset, bare.reader, QUESTIONS)
  const service = await stage.ruledService(stage.scale)
  const loads = [
    { requests: bulks(questions, byKey), ...LOAD },
    { requests: bulks(questions, query => withAttributes(dataset, query)), ...LOAD },
  ]
  const [byKeys, sent] = await stage.races(service, loads, ROUNDS)
  const [cpuByKeys, cpuSent] = [
    await processorTimes(stage, service, loads[0]!),
    await processorTimes(stage, service, loads[1]!),
  ]
  return {
    figures: [
      ratioOf('W6, /allowed/bulk of 1,000 by keys vs floor', byKeys!, KEYS_MIN),
      atLeast('the same by processor time', cpuByKeys.ratio, KEYS_MIN, ''),
      ratioOf('W6, with 4 + 4 attributes and a context of 3 in each element', sent!, SENT_MIN),
      atLeast('the same by processor time', cpuSent.ratio, SENT_MIN, ''),
    ],
    raw: { byKeys, sent, cpuByKeys, cpuSent },
  }
}

/**
 * Returns the processor time per bulk in milliseconds, summed over all threads of a server, and the median of
 * the ratios of the rounds.
 */
async function processorTimes(stage: Stage, service: ServerProcess, { requests, ...load }: RacedLoad) {
  const floor = await stage.floor()
  const sides = [
    { server: service, bursts: await stage.bursts(service.address, requests, load.pipelining) },
    { server: floor, bursts: await stage.floorBursts(floor, requests, load.pipelining) },
  ] as const
  const rounds: (readonly [number, number])[] = []
  for (let round = 0; round < CPU_ROUNDS; round++) {
    const ms: number[] = []
    for (const { server, bursts } of sides) {
      const before = server.cpuSeconds()
      const { requestsPerSecond } = await closedLoop(server.address, bursts, {
        ...load,
        seconds: CPU_SECONDS,
      })
      ms.push((1_000 * (server.cpuSeconds() - before)) / (requestsPerSecond * CPU_SECONDS))
    }
    rounds.push([ms[0]!, ms[1]!])
  }
  return { ratio: median(rounds.map(([ours, floors]) => floors / ours)), rounds }
}

function byKey({ user, action, type, key }: Query): object {
  return { user: { key: user }, action, resource: { type, key, tenant: TENANT } }
}

/**
 * Attributes of the user and the document with their stored values, except one attribute of each. The
 * decision stays the same.
 */
function withAttributes(dataset: RuledDrive, { user, action, type, key }: Query): object {
  const { department, clearance, region, active } = dataset.ofUser(user)
  const { owner: _owner, ...ofDocument } = dataset.ofDocument(key!)
  return {
    user: { key: user, attributes: { department, clearance, region, active } },
    action,
    resource: { type, key, tenant: TENANT, attributes: ofDocument },
    context: CONTEXT,
  }
}

function bulks(questions: readonly JudgedQuestion[], body: (query: Query) => object): WireRequest[] {
  return Array.from({ length: BULKS }, (_, bulk) => {
    const slice = Array.from(
      { length: SIZE },
      (_unused, n) => questions[(bulk * SIZE + n) % questions.length]!,
    )
    return {
      path: '/allowed/bulk',
      body: JSON.stringify(slice.map(({ query }) => body(query))),
      isRight: answer => {
        const { allow } = answer as { allow: { allow: boolean }[] }
        return allow.length === SIZE && allow.every((one, index) => one.allow === slice[index]!.isAllowed)
      },
    }
  })
}
