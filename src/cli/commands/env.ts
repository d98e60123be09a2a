/** `verdict env`: manages the environments of a project. */
import { ask } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { deleteNamed, YES_OPTION } from '#cli/administration/deletion.ts'
import { environmentsIn } from '#cli/administration/named-places.ts'
import type { Session } from '#cli/session/session.ts'
import { ApiKey } from '#model/wire/organization/api-key.ts'
import { Environment, EnvironmentStats } from '#model/wire/organization/environment.ts'

const ENVIRONMENT = {
  type: 'string',
  demandOption: true,
  describe: 'environment, by key or id',
} as const
const NAME = { type: 'string', describe: 'display name; default: the key' } as const

/** Kinds of objects whose number the service reports for an environment. */
const COUNTED = [
  'resources',
  'roles',
  'tenants',
  'users',
  'condition_sets',
  'set_rules',
  'proxy_configs',
] as const

export const envCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(usage, description, command =>
    command
      .command(
        'list',
        'Lists the environments of a project',
        what => what.example('$0 env list --project shop', 'with an API key of the organization'),
        run(async session => show(session, await environmentsIn(session.api, await session.project()))),
      )
      .command(
        'create <environment>',
        'Creates an empty environment and its first API key',
        what =>
          what
            .positional('environment', { ...ENVIRONMENT, describe: 'key of the new environment' })
            .option('name', NAME)
            .example('$0 env create staging', 'in the project of the API key')
            .example('$0 env key staging', 'then shows its first API key'),
        run(async (session, { environment: key, name = key }) => {
          const path = await environmentsPath(session)
          show(session, await ask(session.api, Environment, 'POST', path, { key, name }))
        }),
      )
      .command(
        'show <environment>',
        'Shows an environment and the number of entities in it',
        what =>
          what
            .positional('environment', ENVIRONMENT)
            .example('$0 env show staging', 'with numbers of entities'),
        run(async (session, { environment }) => {
          const path = `${await environmentPath(session, environment)}/stats`
          const found = await ask(session.api, EnvironmentStats, 'GET', path)
          const { output } = session
          output.result(found, () => {
            const rows = COUNTED.map(what => [what.replace('_', ' '), found.stats[what]])
            return [tableOf(session, [found]), '', output.table(['WHAT', 'COUNT'], rows)].join('\n')
          })
        }),
      )
      .command(
        'key <environment>',
        'Shows the first API key of an environment, with its secret',
        what => what.positional('environment', ENVIRONMENT).example('$0 env key staging', 'for VERDICT_KEY'),
        run(async (session, { environment }) => {
          const place = [await session.project(), environment].map(encodeURIComponent).join('/')
          const key = await ask(session.api, ApiKey, 'GET', `/v2/api-key/${place}`)
          session.output.result(key, () => key.secret ?? 'the secret can no longer be shown; rotate the key')
        }),
      )
      .command(
        'copy <environment> <target>',
        'Copies the model of an environment, without its facts, into a new one',
        what =>
          what
            .positional('environment', ENVIRONMENT)
            .positional('target', { ...ENVIRONMENT, describe: 'key of the new environment' })
            .option('name', NAME)
            .option('existing', {
              type: 'boolean',
              default: false,
              describe: 'copy into an existing target; rejected if both have an entity with the same key',
            })
            .option('overwrite', {
              type: 'boolean',
              default: false,
              describe: 'copy into an existing target; entities with the same key are overwritten',
            })
            .example('$0 env copy production staging', 'creates staging with the same model')
            .example(
              '$0 env copy staging production --overwrite',
              'copies the model into an existing environment',
            ),
        run(async (session, { environment, target, name = target, existing, overwrite }) => {
          const isThere = existing || overwrite
          const body = {
            target_env: isThere ? { existing: target } : { new: { key: target, name } },
            conflict_strategy: overwrite ? 'overwrite' : 'fail',
          }
          const path = `${await environmentPath(session, environment)}/copy`
          show(session, await ask(session.api, Environment, 'POST', path, body))
        }),
      )
      .command(
        'rename <environment> <name>',
        'Changes the name of an environment; its key does not change',
        what =>
          what
            .positional('environment', ENVIRONMENT)
            .positional('name', { ...NAME, demandOption: true, describe: 'new name' })
            .example('$0 env rename staging "Before production"', 'the key remains staging'),
        run(async (session, { environment, name }) => {
          const path = await environmentPath(session, environment)
          show(session, await ask(session.api, Environment, 'PATCH', path, { name }))
        }),
      )
      .command(
        'delete <environment>',
        'Deletes an environment, all its content and its API keys; prompts for its key',
        what =>
          what
            .positional('environment', ENVIRONMENT)
            .option('yes', YES_OPTION)
            .example('$0 env delete staging', 'after you typed its key'),
        run(async (session, { environment, yes }) => {
          const path = await environmentPath(session, environment)
          const { key, stats } = await ask(session.api, EnvironmentStats, 'GET', `${path}/stats`)
          const counts = `${counted(stats.users, 'user')} and ${counted(stats.tenants, 'tenant')}`
          const what = `environment ${key} of project ${await session.project()} with ${counts}, all its other content and its API keys`
          await deleteNamed(session, { path, name: key, what, isConfirmed: yes })
        }),
      )
      .demandCommand(1, 'a command is required: list, create, show, key, copy, rename or delete'),
  )

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

async function environmentsPath(session: Session): Promise<string> {
  return `/v2/projects/${encodeURIComponent(await session.project())}/envs`
}

async function environmentPath(session: Session, environment: string): Promise<string> {
  return `${await environmentsPath(session)}/${encodeURIComponent(environment)}`
}

function show(session: Session, found: Environment | readonly Environment[]): void {
  session.output.result(found, () => tableOf(session, [found].flat()))
}

function tableOf({ output }: Session, environments: readonly Environment[]): string {
  const rows = environments.map(({ key, name, id, created_at }) => [key, name, id, created_at])
  return output.table(['ENVIRONMENT', 'NAME', 'ID', 'CREATED'], rows)
}
