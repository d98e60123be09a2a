/**
 * `verdict load`: adds the facts, condition sets and rules in a file to an environment. Objects that already
 * exist are updated or stay unchanged. Therefore a load that was interrupted can be repeated.
 */
import { stat } from 'node:fs/promises'
import { type Api, request, resultOf } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { contentLineOf, ContentLineError } from './content-line.ts'
import { ApiError, RefusedError, UsageError } from '#cli/session/exit-codes.ts'
import { type InputLine, linesOf, FILE_ARGUMENT } from '#cli/session/input.ts'
import { ConditionSet } from '#entities/condition-set.ts'
import type { ContentConditionSet, ContentLine } from '#entities/environment-content.ts'

type LoadedLine = Extract<
  ContentLine,
  { kind: 'condition_set' | 'rule' | 'tenant' | 'user' | 'instance' | 'assignment' | 'tuple' }
>
type LoadedKind = LoadedLine['kind']

const KIBIBYTE = 1_024
/** Number of facts per request. */
const FACTS_PER_REQUEST = 1_000
const KINDS: readonly LoadedKind[] = [
  'condition_set',
  'rule',
  'tenant',
  'user',
  'instance',
  'assignment',
  'tuple',
]

export const loadCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command
        .positional('file', {
          ...FILE_ARGUMENT,
          demandOption: true,
          describe: 'path of the file; - for standard input',
        })
        .example('$0 load facts.ndjson', 'lines in the format of export: {"kind":"user","key":"carol"}'),
    run(async (session, { file }) => {
      const loader = new Loader(session.api, await session.place(), file)
      const bytes = file === '-' ? 0 : (await stat(file)).size
      await session.output.progress('loading', Math.ceil(bytes / KIBIBYTE), 'KiB', async onProgress => {
        const onBytes = (read: number) => onProgress(Math.floor(read / KIBIBYTE))
        for await (const line of linesOf(file, session.streams.stdin, onBytes)) await loader.add(line)
        await loader.send()
      })
      const { counts, ended } = loader
      if (ended > 0) session.output.note(`skipped expired facts: ${ended}`)
      const rows = Object.entries(counts)
      session.output.result({ loaded: counts }, () => session.output.table(['LOADED', 'COUNT'], rows))
    }),
  )

/** Sends facts in the order of their lines. Consecutive facts of the same kind share a request. */
class Loader {
  /** Number of stored facts by kind. */
  readonly counts: Record<string, number> = {}
  /** Number of facts that were skipped because they have expired. The service would reject them. */
  ended = 0
  readonly #api: Api
  readonly #place: string
  readonly #file: string
  #batch: { readonly fact: LoadedLine; readonly number: number }[] = []

  constructor(api: Api, place: string, file: string) {
    this.#api = api
    this.#place = place
    this.#file = file
  }

  /**
   * Adds the fact in a line. If the line is not a valid fact, stores the facts of the previous lines and
   * throws `UsageError`. Can also throw the errors of `send`.
   */
  async add(line: InputLine): Promise<void> {
    let fact: LoadedLine
    try {
      fact = factOf(line)
    } catch (error) {
      await this.send()
      throw error instanceof UsageError ? new UsageError(this.#atLine(line.number, error.message)) : error
    }
    if (hasExpired(fact)) {
      this.ended += 1
      return
    }
    const batch = this.#batch
    if (batch.length > 0 && (batch[0]!.fact.kind !== fact.kind || batch.length === FACTS_PER_REQUEST)) {
      await this.send()
    }
    this.#batch.push({ fact, number: line.number })
  }

  /**
   * Sends the facts that are waiting. If the service rejects a fact, throws `ApiError` with the line of this
   * fact and with the number of stored facts.
   */
  async send(): Promise<void> {
    const batch = this.#batch
    if (batch.length === 0) return
    this.#batch = []
    try {
      await this.#sendTogether(batch)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // The service rejected the whole batch. Its facts are sent one by one until the invalid one is found.
      if (error instanceof RefusedError) {
        for (const each of batch) {
          await this.#sendTogether([each]).catch((reason: unknown) => {
            if (!(reason instanceof ApiError)) throw reason
            // The request has only this fact. Its index in the request does not help the user.
            const cause =
              reason instanceof RefusedError ? reason.reason.replace(/^\w*\[0\]: /, '') : reason.message
            throw new ApiError(this.#atLine(each.number, cause))
          })
        }
        return
      }
      throw new ApiError(this.#atLine(batch[0]!.number, error.message))
    }
  }

  async #sendTogether(batch: readonly { readonly fact: LoadedLine }[]): Promise<void> {
    await sendFacts(
      this.#api,
      this.#place,
      batch.map(({ fact }) => fact),
    )
    const { kind } = batch[0]!.fact
    this.counts[kind] = (this.counts[kind] ?? 0) + batch.length
  }

  #atLine(number: number, message: string): string {
    const kinds = Object.entries(this.counts).map(([kind, count]) => `${kind} ${count}`)
    const isIn = kinds.length === 0 ? 'nothing was loaded' : `loaded: ${kinds.join(', ')}`
    return `${this.#file}:${number}: ${message}\n${isIn}; you can load the file again, existing entries are kept`
  }
}

function factOf({ text }: InputLine): LoadedLine {
  const line = lineOf(text)
  if (line.kind === 'instance' && line.is_group) {
    const name = JSON.stringify(`${line.resource}:${line.key}`)
    throw new UsageError(`${name} is a group; create groups with apply, import or the groups endpoints`)
  }
  if (isFact(line)) return line
  throw new UsageError(`expected a "kind" among ${KINDS.join(', ')}; use import for whole environments`)
}

function hasExpired(fact: LoadedLine): boolean {
  const end = fact.kind === 'assignment' || fact.kind === 'tuple' ? fact.expires_at : null
  return typeof end === 'string' && Date.parse(end) <= Date.now()
}

function isFact(line: ContentLine): line is LoadedLine {
  return KINDS.some(kind => kind === line.kind)
}

function lineOf(text: string): ContentLine {
  try {
    return contentLineOf(text)
  } catch (error) {
    throw error instanceof ContentLineError ? new UsageError(error.message) : error
  }
}

/**
 * Sends facts of one kind. If the service has a bulk operation for this kind, a single request is sufficient.
 */
async function sendFacts(api: Api, place: string, facts: readonly LoadedLine[]): Promise<void> {
  const base = `/v2/facts/${place}`
  const operations = facts.map(bodyOf)
  switch (facts[0]!.kind) {
    case 'condition_set':
      for (const set of facts) await putConditionSet(api, `/v2/schema/${place}`, set as ContentConditionSet)
      return
    case 'rule':
      await request(api, 'POST', `${base}/set_rules/bulk`, { operations })
      return
    case 'tenant':
      // The service has no bulk operation that creates or replaces tenants.
      for (const tenant of operations) await putTenant(api, base, tenant as { readonly key: string })
      return
    case 'user':
      await request(api, 'PUT', `${base}/bulk/users`, { operations })
      return
    case 'instance':
      await request(api, 'PUT', `${base}/bulk/resource_instances`, { operations })
      return
    case 'assignment':
      await request(api, 'POST', `${base}/role_assignments/bulk`, operations)
      return
    case 'tuple':
      await request(api, 'POST', `${base}/relationship_tuples/bulk`, { operations })
  }
}

function bodyOf(fact: LoadedLine): unknown {
  const { kind: _kind, ...body } = fact
  return body
}

async function putConditionSet(
  api: Api,
  base: string,
  { kind: _kind, key, type, resource = null, parent = null, ...fields }: ContentConditionSet,
): Promise<void> {
  const path = `${base}/condition_sets/${key}`
  const there = await api.send('GET', path)
  if (there.status === 404) {
    const limit = resource === null ? {} : { resource_id: resource }
    const body = { key, type, ...limit, parent_id: parent, ...fields }
    await request(api, 'POST', `${base}/condition_sets`, body)
    return
  }
  const set = resultOf(ConditionSet, there, `GET ${path}`)
  if (set.type !== type || (resource !== null && set.resource?.key !== resource)) {
    throw new ApiError(`condition set ${key} exists with another type or for another resource`)
  }
  await request(api, 'PATCH', path, { parent_id: parent, ...fields })
}

async function putTenant(
  api: Api,
  base: string,
  { key, ...fields }: { readonly key: string },
): Promise<void> {
  const { status } = await api.send('GET', `${base}/tenants/${key}`)
  if (status === 200) await request(api, 'PATCH', `${base}/tenants/${key}`, fields)
  else if (status === 404) await request(api, 'POST', `${base}/tenants`, { key, ...fields })
  else throw new ApiError(`GET ${base}/tenants/${key}: status ${status}`)
}
