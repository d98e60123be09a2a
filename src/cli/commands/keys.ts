/** `verdict keys`: manages the API keys that the caller's key has access to. */
import { ask, request } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { UsageError } from '#cli/session/exit-codes.ts'
import { namesOfPlaces } from './named-places.ts'
import type { Session } from '#cli/session/session.ts'
import { idFrom } from '#model/instance-reference.ts'
import { ACCESS_LEVELS } from '#model/principal.ts'
import { ApiKey, ApiKeyEnvelope } from '#model/wire/organization/api-key.ts'

const KEYS = '/v2/api-key'
const LEVEL = { type: 'string', choices: ACCESS_LEVELS } as const
/** Maximum size of a page of keys. */
const PAGE_SIZE = 100

export const keysCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(usage, description, command =>
    command
      .command(
        'list',
        'Lists API keys without their secrets',
        what => what.example('$0 keys list', 'every API key that this one can manage'),
        run(async session => {
          const keys = await allKeys(session)
          const named = await withNames(session, keys)
          session.output.result(named, () => {
            const rows = named.map(key => [
              key.name,
              scopeOf(key),
              key.access_level,
              key.id,
              key.created_at,
              maker(key),
              key.last_used_at,
            ])
            return session.output.table(['NAME', 'SCOPE', 'LEVEL', 'ID', 'CREATED', 'BY', 'LAST USED'], rows)
          })
        }),
      )
      .command(
        'create',
        'Creates an API key; its secret is shown only once',
        what =>
          what
            .option('name', { type: 'string', describe: 'name of the API key' })
            .option('level', { ...LEVEL, describe: 'access level of the API key; default: admin' })
            .example(
              '$0 keys create --project default --env staging',
              'creates an API key of environment staging',
            )
            .example('$0 keys create --project default', 'creates an API key of the project')
            .example('$0 keys create --project default --env dev --level decide', 'it can only make checks'),
        run(async (session, { project, env, name, level }) => {
          const body = { project_id: project, environment_id: env, name, access_level: level }
          show(session, await ask(session.api, ApiKey, 'POST', KEYS, body))
        }),
      )
      .command(
        'set-level <id> <level>',
        'Changes the access level of an API key immediately',
        what =>
          what
            .positional('id', { type: 'string', demandOption: true, describe: 'id of the API key' })
            .positional('level', { ...LEVEL, demandOption: true, describe: 'new access level' })
            .example('$0 keys set-level 5c0f… decide', 'the API key can only make checks'),
        run(async (session, { id, level }) => {
          const path = `${KEYS}/${checkedId(id)}`
          const key = await ask(session.api, ApiKey, 'PATCH', path, { access_level: level })
          session.output.result(key, () => `${id} has the access level ${key.access_level}`)
        }),
      )
      .command(
        'rotate <id>',
        'Replaces the secret of an API key',
        what =>
          what
            .positional('id', { type: 'string', demandOption: true, describe: 'id of the API key' })
            .option('overlap', { type: 'number', describe: 'seconds for which the old secret remains valid' })
            .example('$0 keys rotate 5c0f… --overlap 600', 'the old secret remains valid for ten minutes'),
        run(async (session, { id, overlap }) => {
          const path = `${KEYS}/${checkedId(id)}/rotate-secret`
          show(session, await ask(session.api, ApiKey, 'POST', path, { overlap_seconds: overlap }))
        }),
      )
      .command(
        'revoke <id>',
        'Revokes an API key immediately',
        what => what.positional('id', { type: 'string', demandOption: true, describe: 'id of the API key' }),
        run(async (session, { id }) => {
          await request(session.api, 'DELETE', `${KEYS}/${checkedId(id)}`)
          session.output.result({ revoked: id }, () => `revoked ${id}`)
        }),
      )
      .demandCommand(1, 'a command is required: list, create, set-level, rotate or revoke'),
  )

/**
 * Checks the ID of a key. If a user passes the secret of a key by mistake, it must not be printed or sent in
 * a path, because proxies can log paths. A secret can consist of hexadecimal digits, so the ID must be
 * written with hyphens.
 */
function checkedId(id: string): string {
  if (idFrom(id) === id.toLowerCase()) return id
  throw new UsageError(
    `id: expected a UUID with hyphens, got ${id.length} characters; verdict keys list shows the ids`,
  )
}

async function allKeys(session: Session): Promise<ApiKey[]> {
  const keys: ApiKey[] = []
  for (let page = 1; ; page += 1) {
    const path = `${KEYS}?page=${page}&per_page=${PAGE_SIZE}`
    const { data, page_count } = await ask(session.api, ApiKeyEnvelope, 'GET', path)
    keys.push(...data)
    if (page >= page_count) return keys
  }
}

/** A key with the names of its project and environment. A name is null if the caller cannot read it. */
interface NamedKey extends ApiKey {
  readonly project: string | null
  readonly environment: string | null
}

async function withNames({ api }: Session, keys: readonly ApiKey[]): Promise<NamedKey[]> {
  const ofEnvironments = keys.filter(({ environment_id }) => environment_id !== null)
  const names = await namesOfPlaces(
    api,
    ofEnvironments.flatMap(({ project_id }) => project_id ?? []),
  )
  return keys.map(key => ({
    ...key,
    project: names.projects.get(key.project_id ?? '') ?? null,
    environment: names.environments.get(key.environment_id ?? '') ?? null,
  }))
}

function scopeOf({ object_type, project_id, environment_id, project, environment }: NamedKey): string {
  if (object_type === 'org') return 'everything'
  const ofProject = project ?? project_id
  return object_type === 'project'
    ? `project ${ofProject}`
    : `${environment ?? environment_id} of project ${ofProject}`
}

/**
 * Returns the creator of a key. Returns null if the service created the key or did not record the creator.
 */
function maker({ created_by: by }: ApiKey): string | null {
  return by ? (by.name ?? by.api_key_id ?? 'ADMIN_API_KEY') : null
}

/**
 * Prints a new key. No request is sent before the secret is printed, because the secret would be lost if that
 * request failed.
 */
function show({ output }: Session, key: ApiKey): void {
  output.result(key, () => {
    const scope = scopeOf({ ...key, project: null, environment: null })
    return output.table(['SCOPE', 'ID', 'SECRET'], [[scope, key.id, key.secret]])
  })
}
