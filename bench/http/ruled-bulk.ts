/**
 * Bulks in an environment with attributes and rules (W6) against the floor on the same bodies: by keys alone, and with attributes of
 * user and resource and a context in each element. Of the questions half are allowed by roles, a quarter by a rule, a quarter denied.
 */
import type { Query } from '#model/decision.ts'
import { RuledDrive } from '#testing/data/ruled-drive.ts'
import { loadBare } from '../engine/loading.ts'
import { type JudgedQuestion, ruledQuestions, withoutRules } from '../engine/ruled-questions.ts'
import type { WireRequest } from '../lib/load-generator.ts'
import type { Stage } from './stage.ts'
import { ratioOf, type Result } from './throughput.ts'

const QUESTIONS = 20_000
const SIZE = 1_000
const BULKS = 40
const LOAD = { pipelining: 1, connections: 8, seconds: 0.5 }
const ROUNDS = 9
const KEYS_MIN = 0.6
const SENT_MIN = 0.5
const TENANT = 'default'
const CONTEXT = { ip: '10.1.2.3', device: 'laptop', trusted: true }

export async function measureRuledBulk(stage: Stage): Promise<Result> {
  const dataset = new RuledDrive('W6', stage.scale)
  const bare = loadBare(withoutRules(dataset))
  const questions = ruledQuestions(dataset, bare.reader, QUESTIONS)
  const service = await stage.ruledService(stage.scale)
  const [byKeys, sent] = await stage.races(
    service,
    [
      { requests: bulks(questions, byKey), ...LOAD },
      { requests: bulks(questions, query => withAttributes(dataset, query)), ...LOAD },
    ],
    ROUNDS,
  )
  return {
    figures: [
      ratioOf('W6, /allowed/bulk of 1,000 by keys vs floor', byKeys!, KEYS_MIN),
      ratioOf('W6, the same with 4 + 4 attributes and a context of 3 in each element', sent!, SENT_MIN),
    ],
    raw: { byKeys, sent },
  }
}

function byKey({ user, action, type, key }: Query): object {
  return { user: { key: user }, action, resource: { type, key, tenant: TENANT } }
}

/** Those that are stored, but for one of each: the answer is the same. */
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
