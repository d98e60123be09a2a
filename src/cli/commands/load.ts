/**
 * `verdict load`: adds the facts of a file to an environment, and condition sets and rules. What is there already is brought up
 * to date or left, so a load that broke off can be repeated.
 */
import { type Api, Done, request, resultOf } from '#cli/api.ts'
import type { Command } from '#cli/command.ts'
import { contentLineOf, ContentLineError } from '#cli/content-line.ts'
import { ApiError, UsageError } from '#cli/exit-codes.ts'
import { type InputLine, linesOf, FILE_ARGUMENT } from '#cli/input.ts'
import { ConditionSet } from '#model/wire/condition-set.ts'
import type { ContentConditionSet, ContentLine } from '#model/wire/environment-content.ts'

type Fact = Extract<
  ContentLine,
  { kind: 'condition_set' | 'rule' | 'tenant' | 'user' | 'instance' | 'assignment' | 'tuple' }
>
type FactKind = Fact['kind']

/** Facts in one request. */
const FACTS_PER_REQUEST = 1_000
const KINDS: readonly FactKind[] = [
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
          describe: 'the file; - for standard input',
        })
        .example('$0 load facts.ndjson', 'lines as export writes them: {"kind":"user","key":"carol"}'),
    run(async (session, { file }) => {
      const place = await session.place()
      const counts: Record<string, number> = {}
      let batch: Fact[] = []
      const send = async () => {
        if (batch.length === 0) return
        await sendFacts(session.api, place, batch)
        counts[batch[0]!.kind] = (counts[batch[0]!.kind] ?? 0) + batch.length
        batch = []
      }
      for await (const line of linesOf(file, session.streams.stdin)) {
        const fact = factOf(line, `${file}:${line.number}`)
        if (batch[0]?.kind !== fact.kind || batch.length === FACTS_PER_REQUEST) await send()
        batch.push(fact)
      }
      await send()
      const rows = Object.entries(counts)
      session.output.result({ loaded: counts }, () => session.output.table(['LOADED', 'COUNT'], rows))
    }),
  )

function factOf({ text }: InputLine, place: string): Fact {
  const line = lineOf(text, place)
  if (isFact(line)) return line
  throw new UsageError(
    `${place}: expected a "kind" among ${KINDS.join(', ')}; import takes whole environments`,
  )
}

function isFact(line: ContentLine): line is Fact {
  return KINDS.some(kind => kind === line.kind)
}

function lineOf(text: string, place: string): ContentLine {
  try {
    return contentLineOf(text)
  } catch (error) {
    throw error instanceof ContentLineError ? new UsageError(`${place}: ${error.message}`) : error
  }
}

/** Sends facts of one kind, in one request where there is a bulk call. */
async function sendFacts(api: Api, place: string, facts: readonly Fact[]): Promise<void> {
  const base = `/v2/facts/${place}`
  const operations = facts.map(bodyOf)
  switch (facts[0]!.kind) {
    case 'condition_set':
      for (const set of facts) await putConditionSet(api, `/v2/schema/${place}`, set as ContentConditionSet)
      return
    case 'rule':
      for (const rule of operations) await putRule(api, base, rule)
      return
    case 'tenant':
      // There is no bulk call that puts tenants.
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

function bodyOf(fact: Fact): unknown {
  if (fact.kind === 'instance' && fact.is_group) {
    const name = JSON.stringify(`${fact.resource}:${fact.key}`)
    throw new UsageError(`${name} is a group: groups are made by apply, import, or the groups interface`)
  }
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
    throw new ApiError(`condition set ${key} is there, of another type or for another resource`)
  }
  await request(api, 'PATCH', path, { parent_id: parent, ...fields })
}

/** A rule that is there already is left as it is. */
async function putRule(api: Api, base: string, rule: unknown): Promise<void> {
  const path = `${base}/set_rules`
  const answer = await api.send('POST', path, rule)
  if (answer.status !== 409) resultOf(Done, answer, `POST ${path}`)
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
