/**
 * `verdict load`: adds the facts of a file to an environment. Facts that are there already are brought up to date or left,
 * so a load that broke off can be repeated.
 */
import { type Api, ApiError, request } from '#cli/api.ts'
import type { Command } from '#cli/command.ts'
import { contentLineOf, ContentLineError } from '#cli/content-line.ts'
import { UsageError } from '#cli/exit-codes.ts'
import { type InputLine, linesOf, FILE_ARGUMENT } from '#cli/input.ts'
import type { ContentLine } from '#model/wire/environment-content.ts'

type Fact = Extract<ContentLine, { kind: 'tenant' | 'user' | 'instance' | 'assignment' | 'tuple' }>
type FactKind = Fact['kind']

/** Facts in one request. */
const FACTS_PER_REQUEST = 1_000
const KINDS: readonly FactKind[] = ['tenant', 'user', 'instance', 'assignment', 'tuple']

export const loadCommand: Command = (parser, run) =>
  parser.command(
    'load <file>',
    'Adds facts to an environment, one a line; what is there stays. In order: who is named comes first',
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
