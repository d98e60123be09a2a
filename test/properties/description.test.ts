/** Random requests from the OpenAPI description: responses match it, and the service decides correctly. */
import { Agent, type IncomingMessage, request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { EVENTS_TYPE } from '#entities/change-event.ts'
import { presentForm, presentForms } from '#http/routes/decisions/older-questions.ts'
import { Random } from '#testing/data/random.ts'
import { sharedService } from '#testing/processes/running-service.ts'
import { Description, type JudgedAnswer } from '../support/documents/description.ts'
import { type DrawnRequest, DrawnRequests } from '../support/fuzz/drawn-requests.ts'
import { FuzzedService, LASTING } from '../support/fuzz/fuzzed-service.ts'
import { KnownNames } from '../support/fuzz/known-names.ts'
import { collectNames } from '../support/fuzz/collected-names.ts'
import { howToRepeat, runsOf, seed } from './seeded.ts'
import { sharedDirectory } from '../support/processes/temporary-directories.ts'

const times = Number(process.env['VERDICT_RUNS'] ?? 1)
/** Number of requests after which deleted entities are created again, so that later requests find them. */
const ARRANGED_FOR = 30
/** Maximum size of a request head in the service under test. The default is higher. */
const HEAD_BYTES_MAX = 4_096

/** Requirements that the description contains as text, because a schema cannot express them. */
const SAID_IN_WORDS = [
  /must not contain unpaired surrogates/,
  /without control characters/,
  /percent-encoded UTF-8/,
  /X-Actor-For needs X-Actor|must be one name; encode a comma as %2C/,
  /permission of a (tenant role|rule) must have the form resource:action/,
  /is required for a tenant role/,
  /must be false or null/,
  /expected either an existing environment or a new one/,
  // The description does not specify the language of conditions.
  /"type":"condition"/,
  /X-Min-Revision belongs to another epoch/,
  /must be the next_token of a previous response/,
  /expires_at: must be in the future/,
  /page and per_page: give both or neither/,
  /exceeds the limit of \d+ entries \(MAX_LISTED_ENTRIES\)/,
  /limit and size have the same meaning but different values/,
  /token and next_token have the same meaning but different values/,
  /must be a text or an object of at most \d+ bytes as JSON/,
  /must be at most \d+ bytes of UTF-8/,
  /must be the id of an event, or a revision/,
  /query\.kinds: must be one of /,
  /of kind \w+ (do not belong to a|belong to no) resource/,
  /must be (at most \d+ names|names separated by commas)/,
  /http_method: is required/,
  /query\.effective: must be /,
  // The limits of a grant depend on its object and its level.
  /is required together with roles|can limit only a grant on an environment/,
  /for a grant that is limited to tenants|for access_level \\?"|is only for keys of env/,
  /of kind \w+ (do not belong to a|belong to no) resource/,
  /a plan applies to all rows|is not the name of a column|columns of this kind/,
  /mapping_rules\[\d+\](\.url(_type)?)?: must /,
]

async function storeUrl(): Promise<string> {
  if (times === 1) return 'memory:'
  const directory = sharedDirectory()
  return `lmdb:${directory}`
}

const verdict = await sharedService({ storeUrl: await storeUrl() })
const document = (await verdict.send<Record<string, unknown>>('GET', '/openapi.json', { key: null })).body
const description = new Description(document)
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterAll(() => agent.destroy())

/** Sends a request unchanged. `fetch` would correct some invalid parts. */
function send({ method, path, headers, body }: DrawnRequest): Promise<JudgedAnswer> {
  return new Promise((resolve, reject) => {
    const texts = Object.entries(headers).map(([name, text]) => [name, Buffer.from(text).toString('latin1')])
    const length = body === null && method === 'GET' ? [] : [['Content-Length', String(body?.length ?? 0)]]
    const options = {
      agent,
      port: verdict.port,
      method,
      path,
      headers: Object.fromEntries([...texts, ...length]),
    }
    const sent = request(options, async answer => {
      const bytes = await bytesOf(answer)
      const isPacked = answer.headers['content-encoding'] === 'gzip'
      resolve({
        status: answer.statusCode!,
        headers: new Map(Object.entries(answer.headers).map(([name, value]) => [name, String(value)])),
        body: (isPacked ? gunzipSync(bytes) : bytes).toString(),
      })
    })
    sent.on('error', reject)
    sent.end(body ?? undefined)
  })
}

/** Reads the whole body of a response, or the first chunk of a stream. */
async function bytesOf(answer: IncomingMessage): Promise<Buffer> {
  if (answer.headers['content-type'] !== EVENTS_TYPE) return Buffer.concat(await answer.toArray())
  for await (const bytes of answer) return bytes as Buffer
  return Buffer.alloc(0)
}

/** Returns the differences between a response and the description. */
function findingsIn(drawn: DrawnRequest, answer: JudgedAnswer): string[] {
  const { operation, isStraight } = drawn
  const { status, body } = answer
  const findings = description.findings(operation.operationId, answer)
  if (status === 431 && !isLongHead(drawn)) findings.push('is only valid for a longer head')
  if (status >= 500) findings.push('is an internal error')
  const [refused] = status < 300 ? requestFindings(drawn) : []
  if (refused !== undefined) findings.push(`is accepted against the description: ${refused}`)
  if (isStraight && isRefusedShape(drawn, status) && !SAID_IN_WORDS.some(words => words.test(body))) {
    findings.push('is rejected against the description')
  }
  return findings
}

function isLongHead({ path, headers }: DrawnRequest): boolean {
  return path.length + JSON.stringify(headers).length > HEAD_BYTES_MAX * 0.75
}

/** True if the status means an invalid body. The status for invalid bodies depends on the operation. */
function isRefusedShape({ operation }: DrawnRequest, status: number): boolean {
  if (operation.path.startsWith('/v')) return status === 422
  return status === 400 && operation.operationId !== 'accessEvaluations'
}

function requestFindings({ operation, path, body }: DrawnRequest): string[] {
  const { operationId } = operation
  const findings = description.queryFindings(operationId, path.split('?')[1] ?? '')
  if (body === null || body.length === 0 || operation.body?.type !== 'application/json') return findings
  const value: unknown = JSON.parse(textOf(body))
  return [...findings, ...description.bodyFindings(operationId, describedForm(operation.path, value))]
}

/** Converts checks in the older form, which some paths also accept. It is not described (native.md B.1). */
function describedForm(path: string, value: unknown): unknown {
  if (!path.startsWith('/allowed')) return value
  return Array.isArray(value) ? presentForms(value) : presentForm(value)
}

/** Decodes a body without the byte order mark at its start. */
function textOf(body: Buffer): string {
  return new TextDecoder().decode(body)
}

function told({ method, path, headers, body }: DrawnRequest, answer: JudgedAnswer): string {
  const parts = [`${method} ${path}`, JSON.stringify(headers), body?.toString() ?? '', answer.body]
  return parts.map(part => part.slice(0, 800)).join('\n  ')
}

describe('random requests from the description', () => {
  test('receive responses as described, from a service that keeps deciding correctly', async () => {
    const service = new FuzzedService(verdict)
    const found = new Map<string, string>()
    /** Sends each operation once per round. Returns the share of operations that succeeded. */
    const ask = async (random: Random, rounds: number) => {
      const names = new KnownNames(random, LASTING)
      const requests = new DrawnRequests(document, random, names, service.keys)
      const succeeded = new Set<string>()
      for (let round = 0; round < rounds; round++) {
        const operations = [...requests.operations]
        random.shuffle(operations)
        for (const [index, operation] of operations.entries()) {
          if (index % ARRANGED_FOR === 0) await service.arrange()
          const drawn = requests.draw(operation)
          const answer = await send(drawn)
          const { operationId } = operation
          for (const finding of findingsIn(drawn, answer)) {
            found.set(`${operationId} ${answer.status} ${finding}`, told(drawn, answer))
          }
          if (answer.status >= 300) continue
          if (drawn.path.includes('/default/default/'))
            requests.revision = answer.headers.get('x-revision') ?? null
          succeeded.add(operationId)
          if (answer.headers.get('content-type') === 'application/json')
            collectNames(names, operation, JSON.parse(answer.body))
        }
        await service.expectRight(howToRepeat)
      }
      return succeeded.size / requests.operations.length
    }
    // The first round must succeed often enough, because rejections alone would be a weak test.
    expect(await ask(new Random(1), 1)).toBeGreaterThan(0.25)
    await ask(new Random(seed), runsOf(seed, 10, 1))
    expect(Object.fromEntries(found), howToRepeat).toEqual({})
  })
})
