/**
 * `verdict list`: lists the resources that a user can access, the users with access, and the permitted
 * actions.
 */
import type { Command } from '#cli/session/command.ts'
import { UsageError } from '#cli/session/exit-codes.ts'
import {
  ARGUMENT,
  type AttributesAndContext,
  attributeArguments,
  attributesAndContext,
} from '#cli/questions/question.ts'
import { search, type SearchedPart, type SearchQuestion } from '#cli/questions/search.ts'
import type { Session } from '#cli/session/session.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'

export const listCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(usage, description, command =>
    command
      .command(
        'resources <user> <action> <type>',
        'Lists the instances of a type on which a user can perform an action',
        what =>
          attributeArguments(what)
            .positional('user', ARGUMENT.user)
            .positional('action', ARGUMENT.action)
            .positional('type', ARGUMENT.type)
            .option('tenant', ARGUMENT.tenant)
            .example('$0 list resources carol read document', 'the documents that carol can read'),
        run((session, { user, action, type, tenant, attributes, context }) =>
          printFound(session, 'resource', { user, action, type, tenant, attributes, context }),
        ),
      )
      .command(
        'users <action> <resource>',
        'Lists the users who can perform an action on a resource',
        what =>
          attributeArguments(what)
            .positional('action', ARGUMENT.action)
            .positional('resource', ARGUMENT.instance)
            .option('tenant', ARGUMENT.tenant)
            .example('$0 list users write document:roadmap', 'all users who can write the roadmap'),
        run((session, { action, resource, tenant, attributes, context }) =>
          printFound(session, 'subject', { action, ...instanceOf(resource), tenant, attributes, context }),
        ),
      )
      .command(
        'actions <user> <resource>',
        'Lists the actions that a user can perform on a resource',
        what =>
          attributeArguments(what)
            .positional('user', ARGUMENT.user)
            .positional('resource', ARGUMENT.instance)
            .option('tenant', ARGUMENT.tenant)
            .example(
              '$0 list actions carol document:roadmap',
              'the actions that carol can perform on the roadmap',
            ),
        run((session, { user, resource, tenant, attributes, context }) =>
          printFound(session, 'action', { user, ...instanceOf(resource), tenant, attributes, context }),
        ),
      )
      .demandCommand(1, 'a command is required: resources, users or actions'),
  )

const HEADERS = { resource: 'RESOURCE', subject: 'USER', action: 'ACTION' } as const

/**
 * Arguments of the command, with the names that the search uses. Attributes and context are still the
 * unparsed texts of the options.
 */
type ListArguments = Omit<SearchQuestion, 'attributes' | 'context'> &
  Parameters<typeof attributesAndContext>[0]

async function printFound(
  session: Session,
  part: SearchedPart,
  { attributes, context, ...names }: ListArguments,
): Promise<void> {
  const attributesAndContextGiven = attributesAndContext({ attributes, context })
  requireOfGivenSide(part, attributesAndContextGiven.attributes)
  const found = await search(await session.decisions(), part, { ...names, ...attributesAndContextGiven })
  session.output.result(found, () =>
    session.output.table(
      [HEADERS[part]],
      found.map(item => [item]),
    ),
  )
}

/**
 * Throws `UsageError` if attributes of the searched entity are given, because the service would ignore them.
 */
function requireOfGivenSide(part: SearchedPart, attributes: AttributesAndContext['attributes']): void {
  const searched = part === 'subject' ? 'user' : part
  if (searched === 'action' || attributes?.[searched] === undefined) return
  throw new UsageError(
    `--attributes: a search for ${searched}s reads the stored attributes of each ${searched}; leave ${JSON.stringify(searched)} out`,
  )
}

function instanceOf(resource: string) {
  const instance = parseInstanceReference(resource)
  if (instance === null)
    throw new UsageError(`expected a resource as type:key, got ${JSON.stringify(resource)}`)
  return instance
}
