/** `verdict project`: manages the projects that the caller's key has access to. */
import { ask } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { deleteNamed, YES_OPTION } from '#cli/administration/deletion.ts'
import { environmentsIn, projectsIn } from '#cli/administration/named-places.ts'
import type { Session } from '#cli/session/session.ts'
import { Project } from '#model/wire/organization/project.ts'

const PROJECT = { type: 'string', demandOption: true, describe: 'project, by key or id' } as const

export const projectCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(usage, description, command =>
    command
      .command(
        'list',
        'Lists projects',
        what => what.example('$0 project list', 'projects that this API key can access'),
        run(async session => show(session, await projectsIn(session.api))),
      )
      .command(
        'create <project>',
        'Creates a project',
        what =>
          what
            .positional('project', { ...PROJECT, describe: 'key of the new project' })
            .option('name', { type: 'string', describe: 'display name; default: the key' })
            .example('$0 project create shop --name "The shop"', 'with an API key of the organization'),
        run(async (session, { project: key, name = key }) => {
          const body = { key, name, initial_environments: [] }
          show(session, await ask(session.api, Project, 'POST', '/v2/projects', body))
        }),
      )
      .command(
        'show <project>',
        'Shows a project and its environments',
        what => what.positional('project', PROJECT).example('$0 project show shop', 'with its environments'),
        run(async (session, { project }) => {
          const found = await ask(session.api, Project, 'GET', pathOf(project))
          const environments = await environmentsIn(session.api, found.id)
          const { output } = session
          output.result({ ...found, environments }, () => {
            const rows = environments.map(({ key, name, id }) => [key, name, id])
            return [tableOf(session, [found]), '', output.table(['ENVIRONMENT', 'NAME', 'ID'], rows)].join(
              '\n',
            )
          })
        }),
      )
      .command(
        'rename <project> <name>',
        'Changes the name of a project; its key does not change',
        what =>
          what
            .positional('project', PROJECT)
            .positional('name', { type: 'string', demandOption: true, describe: 'new name' })
            .example('$0 project rename shop "The old shop"', 'the key remains shop'),
        run(async (session, { project, name }) => {
          show(session, await ask(session.api, Project, 'PATCH', pathOf(project), { name }))
        }),
      )
      .command(
        'delete <project>',
        'Deletes a project, its environments and their API keys; prompts for its key',
        what =>
          what
            .positional('project', PROJECT)
            .option('yes', YES_OPTION)
            .example('$0 project delete shop', 'after you typed its key'),
        run(async (session, { project, yes }) => {
          const { key } = await ask(session.api, Project, 'GET', pathOf(project))
          const keys = (await environmentsIn(session.api, project)).map(environment => environment.key)
          const within =
            keys.length === 0 ? '' : ` with environment${keys.length === 1 ? '' : 's'} ${keys.join(', ')}`
          const what = `project ${key}${within}, all its content and its API keys`
          await deleteNamed(session, { path: pathOf(project), name: key, what, isConfirmed: yes })
        }),
      )
      .demandCommand(1, 'a command is required: list, create, show, rename or delete'),
  )

function pathOf(project: string): string {
  return `/v2/projects/${encodeURIComponent(project)}`
}

function show(session: Session, found: Project | readonly Project[]): void {
  session.output.result(found, () => tableOf(session, [found].flat()))
}

function tableOf({ output }: Session, projects: readonly Project[]): string {
  const rows = projects.map(({ key, name, id, created_at }) => [key, name, id, created_at])
  return output.table(['PROJECT', 'NAME', 'ID', 'CREATED'], rows)
}
