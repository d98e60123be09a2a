/** `verdict list`: what a user may reach, who may, and what they may do. */
import type { Command } from '#cli/command.ts'
import { UsageError } from '#cli/exit-codes.ts'
import { ARGUMENT, saidArguments, saidBy } from '#cli/question.ts'
import { search } from '#cli/search.ts'
import type { Session } from '#cli/session.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'

export const listCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(usage, description, command =>
    command
      .command(
        'resources <user> <action> <type>',
        'On which instances of a type may this user do this?',
        what =>
          saidArguments(what)
            .positional('user', ARGUMENT.user)
            .positional('action', ARGUMENT.action)
            .positional('type', ARGUMENT.type)
            .option('tenant', ARGUMENT.tenant)
            .example('$0 list resources carol read document', 'the documents carol may read'),
        run(async (session, { user, action, type, tenant: where, ...said }) =>
          print(
            session,
            'RESOURCE',
            await search(await session.decisions(), 'resource', {
              user,
              action,
              type,
              tenant: where,
              ...saidBy(said),
            }),
          ),
        ),
      )
      .command(
        'users <action> <resource>',
        'Who may do this on that resource?',
        what =>
          saidArguments(what)
            .positional('action', ARGUMENT.action)
            .positional('resource', ARGUMENT.instance)
            .option('tenant', ARGUMENT.tenant)
            .example('$0 list users write document:roadmap', 'everybody who may write the roadmap'),
        run(async (session, { action, resource, tenant: where, ...said }) =>
          print(
            session,
            'USER',
            await search(await session.decisions(), 'subject', {
              action,
              ...instanceOf(resource),
              tenant: where,
              ...saidBy(said),
            }),
          ),
        ),
      )
      .command(
        'actions <user> <resource>',
        'What may this user do on that resource?',
        what =>
          saidArguments(what)
            .positional('user', ARGUMENT.user)
            .positional('resource', ARGUMENT.instance)
            .option('tenant', ARGUMENT.tenant)
            .example('$0 list actions carol document:roadmap', 'what carol may do with the roadmap'),
        run(async (session, { user, resource, tenant: where, ...said }) =>
          print(
            session,
            'ACTION',
            await search(await session.decisions(), 'action', {
              user,
              ...instanceOf(resource),
              tenant: where,
              ...saidBy(said),
            }),
          ),
        ),
      )
      .demandCommand(1, 'say what to list: resources, users or actions'),
  )

function print({ output }: Session, header: string, found: readonly string[]): void {
  output.result(found, () =>
    output.table(
      [header],
      found.map(item => [item]),
    ),
  )
}

function instanceOf(resource: string) {
  const instance = parseInstanceReference(resource)
  if (instance === null)
    throw new UsageError(`expected a resource as type:key, got ${JSON.stringify(resource)}`)
  return instance
}
