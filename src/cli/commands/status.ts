/** `verdict status`: prints the health of the service, the scope of the key, and the number of objects. */
import { Type } from 'typebox'
import { Check } from 'typebox/schema'
import { type Api, ask, resultOf } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { EXIT, UsageError } from '#cli/session/exit-codes.ts'
import type { Session } from '#cli/session/session.ts'
import { envelope } from '#model/wire/paging.ts'
import { Health } from '#model/wire/health.ts'
import { NativeError } from '#model/wire/problem.ts'

/** Counted kinds of objects, each with the list that returns their number. */
const COUNTED = [
  ['resources', 'schema', 'resources'],
  ['roles', 'schema', 'roles'],
  ['tenants', 'facts', 'tenants'],
  ['users', 'facts', 'users'],
  ['instances', 'facts', 'resource_instances'],
  ['assignments', 'facts', 'role_assignments'],
  ['tuples', 'facts', 'relationship_tuples'],
] as const

const CountedList = envelope(Type.Unknown())

export const statusCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command.example(
        '$0 status --url http://127.0.0.1:7766',
        'with VERDICT_KEY also shows the scope of the API key',
      ),
    run(async session => {
      const isReady = await readiness(session.api)
      const version = await versionOf(session.api)
      const counts = isReady && session.hasKey ? await countsIfPlaced(session) : null
      const status = { address: session.api.address, version, ready: isReady, counts }
      const { output } = session
      output.result(status, () => {
        const word = isReady ? output.style('green', 'ready') : output.style('red', 'not ready')
        const rows = Object.entries(counts ?? {}).map(([what, count]) => [what, count])
        return [
          `${session.api.address} is ${word}${version === null ? '' : `, Verdict ${version}`}`,
          ...(counts ? ['', output.table(['WHAT', 'COUNT'], rows)] : []),
        ].join('\n')
      })
      session.exitCode = isReady ? EXIT.yes : EXIT.no
    }),
  )

/**
 * Whether the service reports that it is ready. Throws `ApiError` if the response does not come from the
 * service.
 */
async function readiness(api: Api): Promise<boolean> {
  const answer = await api.send('GET', '/ready')
  // A proxy also returns the status 503 if the service is unavailable. Only the error format of the service
  // proves that the service responded.
  if (answer.status === 503 && Check(NativeError, answer.body)) return false
  resultOf(Health, answer, 'GET /ready')
  return true
}

/** Returns the release of the service, or null if it does not report one. */
async function versionOf(api: Api): Promise<string | null> {
  const { status, body } = await api.send('GET', '/healthy')
  return status === 200 && Check(Health, body) ? (body.version ?? null) : null
}

/**
 * Numbers of objects in the environment. If the key can access several environments and none is selected,
 * prints a note and returns null, because the health of the service is still useful.
 */
async function countsIfPlaced(session: Session): Promise<Record<string, number> | null> {
  try {
    return await countsOf(session)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    session.output.note(error.message)
    return null
  }
}

async function countsOf(session: Session): Promise<Record<string, number>> {
  const place = await session.place()
  const counts: Record<string, number> = {}
  for (const [what, base, list] of COUNTED) {
    const path = `/v2/${base}/${place}/${list}?per_page=1&include_total_count=true`
    const { total_count } = await ask(session.api, CountedList, 'GET', path)
    counts[what] = total_count
  }
  return counts
}
