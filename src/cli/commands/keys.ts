/** `verdict keys`: manages the API keys that the caller's key has access to. */
import { checkedId } from '#cli/administration/checked-id.ts'
import { namesOfPlaces } from '#cli/administration/named-places.ts'
import { allInEnvelopes } from '#cli/administration/pages.ts'
import { LIMIT_OPTIONS, levelText, limitsOf, objectText } from '#cli/administration/permissions.ts'
import { ask, request } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import type { Session } from '#cli/session/session.ts'
import { ACCESS_LEVELS } from '#model/principal.ts'
import { ApiKey, ApiKeyEnvelope } from '#model/wire/organization/api-key.ts'

const KEYS = '/v2/api-key'
const LEVEL = { type: 'string', choices: ACCESS_LEVELS } as const

const keyId = (id: string): string => checkedId(id, 'verdict keys list')

export const keysCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(usage, description, command =>
    command
      .command(
        'list',
        'Lists API keys without their secrets',
        what => what.example('$0 keys list', 'every API key that this one can manage'),
        run(async session => {
          const keys = await allInEnvelopes(session.api, ApiKeyEnvelope, KEYS)
          const named = await withNames(session, keys)
          session.output.result(named, () => {
            const rows = named.map(key => [
              key.name,
              scopeOf(key),
              levelText(key),
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
            .options(LIMIT_OPTIONS)
            .example(
              '$0 keys create --project default --env staging',
              'creates an API key of environment staging',
            )
            .example('$0 keys create --project default', 'creates an API key of the project')
            .example('$0 keys create --project default --env dev --level decide', 'it can only make checks')
            .example(
              '$0 keys create --project default --env dev --level write_facts --tenants acme --roles clerk',
              'it can only give and take one role in one tenant',
            ),
        run(async (session, { project, env, name, level, ...limits }) => {
          const scope = { project_id: project, environment_id: env }
          const body = { ...scope, name, access_level: level, ...limitsOf(limits) }
          show(session, await ask(session.api, ApiKey, 'POST', KEYS, body))
        }),
      )
      .command(
        'set-level <id> <level>',
        'Changes the access level of an API key immediately, and its limits if they are given',
        what =>
          what
            .positional('id', { type: 'string', demandOption: true, describe: 'id of the API key' })
            .positional('level', { ...LEVEL, demandOption: true, describe: 'new access level' })
            .options(LIMIT_OPTIONS)
            .example('$0 keys set-level 5c0f… decide', 'the API key can only make checks'),
        run(async (session, { id, level, ...limits }) => {
          const body = { access_level: level, ...limitsOf(limits) }
          const key = await ask(session.api, ApiKey, 'PATCH', `${KEYS}/${keyId(id)}`, body)
          session.output.result(key, () => `${id} has the access level ${levelText(key)}`)
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
          const path = `${KEYS}/${keyId(id)}/rotate-secret`
          show(session, await ask(session.api, ApiKey, 'POST', path, { overlap_seconds: overlap }))
        }),
      )
      .command(
        'revoke <id>',
        'Revokes an API key immediately',
        what => what.positional('id', { type: 'string', demandOption: true, describe: 'id of the API key' }),
        run(async (session, { id }) => {
          await request(session.api, 'DELETE', `${KEYS}/${keyId(id)}`)
          session.output.result({ revoked: id }, () => `revoked ${id}`)
        }),
      )
      .demandCommand(1, 'a command is required: list, create, set-level, rotate or revoke'),
  )

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
  return objectText({
    object_type,
    project: project ?? project_id,
    environment: environment ?? environment_id,
  })
}

/**
 * Returns the creator of a key. Returns null if the service created the key or did not record the creator.
 */
function maker({ created_by: by }: ApiKey): string | null {
  if (!by) return null
  if (by.member) return by.member.name ?? by.member.id
  return by.name ?? by.api_key_id ?? 'ADMIN_API_KEY'
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
