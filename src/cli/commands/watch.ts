/** `verdict watch`: prints the changes of an environment, one line per change, until the user stops it. */
import type { Command } from '#cli/session/command.ts'
import { EXIT, UsageError } from '#cli/session/exit-codes.ts'
import type { Session } from '#cli/session/session.ts'
import { watchedChanges } from './watched-changes.ts'

const LIST = { type: 'string' } as const

export const watchCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command
        .option('since', {
          type: 'string',
          describe: 'revision or event id after which to start; default: now',
        })
        .option('kinds', {
          ...LIST,
          describe: 'only these kinds, separated by commas: role_assignment,user.deleted',
        })
        .option('types', { ...LIST, describe: 'only changes of these resources' })
        .option('tenants', { ...LIST, describe: 'only changes in these tenants' })
        .option('effective', {
          ...LIST,
          describe: 'show effective access changes of these permissions instead: document:read',
          conflicts: ['kinds', 'types', 'tenants'],
        })
        .option('count', {
          type: 'number',
          describe: 'number of changes after which to stop; default: no limit',
        })
        .option('json', { type: 'boolean', describe: 'one line of JSON per change, as in a pipe' })
        .example('$0 watch', 'prints all changes')
        .example(
          '$0 watch --kinds role_assignment --tenants acme',
          'prints granted and revoked roles in a tenant',
        )
        .example('$0 watch --effective document:read', 'prints access gained and lost')
        .example('$0 watch --count 1 --kinds user.created', 'waits for the next new user'),
    run((session, options) => watch(session, options)),
  )

interface WatchOptions {
  readonly since?: string | undefined
  readonly kinds?: string | undefined
  readonly types?: string | undefined
  readonly tenants?: string | undefined
  readonly effective?: string | undefined
  readonly count?: number | undefined
  readonly json?: boolean | undefined
}

async function watch(session: Session, options: WatchOptions): Promise<void> {
  const { output, streams } = session
  const isHuman = output.isHuman && options.json !== true
  const query = new URLSearchParams()
  for (const name of ['kinds', 'types', 'tenants', 'effective'] as const) {
    const names = options[name]
    if (names !== undefined) query.set(name, names)
  }
  const { since = null, count = Infinity } = options
  const isCount = count === Infinity || (Number.isInteger(count) && count > 0)
  if (!isCount) {
    const given = Number.isNaN(count) ? 'a text that is not a number' : String(count)
    throw new UsageError(`--count: expected an integer of at least 1, got ${given}`)
  }
  const path = `/v2/facts/${await session.place()}/changes`
  const onLost = (reason: string): void => output.note(`verdict watch: ${reason}; reconnecting`)
  let printed = 0
  for await (const { event, data } of watchedChanges(session.api, { path, query, since, onLost })) {
    if (event === 'reset') {
      const { reason, revision } = JSON.parse(data) as { readonly reason: string; readonly revision: string }
      output.note(
        `verdict watch: changes are missing here (${reason}); the stream continues from ${revision}`,
      )
      session.exitCode = EXIT.no
      if (!isHuman) streams.stdout.write(`${JSON.stringify({ kind: 'reset', reason, revision })}\n`)
    }
    // Events about changes have a period in their names. All other events are about the stream itself and are
    // skipped.
    if (!event.includes('.')) continue
    streams.stdout.write(`${isHuman ? lineOf(JSON.parse(data) as WatchedChange) : data}\n`)
    printed += 1
    if (printed >= count) return
  }
}

interface WatchedChange {
  readonly kind: string
  readonly time: string | null
  readonly cause: string
  readonly operation: string | null
  readonly item: Readonly<Record<string, unknown>>
  readonly removed_with?: Readonly<Record<string, number>>
}

const KIND_WIDTH = 27

/** Formats a change as one line of text. */
function lineOf({ kind, time, cause, operation, item, removed_with: removed = {} }: WatchedChange): string {
  const [noun] = kind.split('.')
  const along = Object.entries(removed).map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`)
  const parts = [
    time === null ? ' '.repeat(19) : time.slice(0, 19).replace('T', ' '),
    kind.padEnd(KIND_WIDTH),
    nameOf(noun!, item),
    ...(along.length === 0 ? [] : [`with ${along.join(', ')}`]),
    `(${cause === 'request' ? operation : cause})`,
  ]
  return parts.join('  ')
}

function nameOf(noun: string, item: Readonly<Record<string, unknown>>): string {
  const { key, resource } = item
  switch (noun) {
    case 'resource_instance':
      return `${resource}:${key} in ${item['tenant']}`
    case 'role_assignment': {
      const where =
        item['resource_instance'] === null ? `in ${item['tenant']}` : `on ${item['resource_instance']}`
      return `${item['user']} ${item['role']} ${where}${item['expires_at'] ? ` until ${item['expires_at']}` : ''}`
    }
    case 'relationship_tuple':
      return `${item['subject']} ${item['relation']} ${item['object']}${item['expires_at'] ? ` until ${item['expires_at']}` : ''}`
    case 'role':
      return resource === null ? `${key}` : `${resource}#${key}`
    case 'access':
      return accessText(item as unknown as AccessItem)
    case 'relation':
      return `${item['object_resource']}.${key}`
    case 'set_rule':
      return `${item['user_set']} ${item['permission']} ${item['resource_set']}`
    default:
      return `${key}`
  }
}

interface AccessItem {
  readonly type: string
  readonly action: string
  readonly gained: readonly { readonly user: string; readonly resource: string }[]
  readonly lost: readonly { readonly user: string; readonly resource: string }[]
  readonly many?: readonly Readonly<Record<string, string>>[]
}

/**
 * Maximum number of pairs and scopes that a line lists. If there are more, the line contains the number of
 * the others.
 */
const NAMED_MAX = 5

function accessText({ type, action, gained, lost, many = [] }: AccessItem): string {
  const pairText = (sign: string) => (pair: { readonly user: string; readonly resource: string }) =>
    `${sign}${pair.user} ${pair.resource}`
  const all = [
    ...gained.map(pairText('+')),
    ...lost.map(pairText('-')),
    ...many.map(scope => `list again: ${scopeText(scope)}`),
  ]
  const rest = all.length > NAMED_MAX ? [`${all.length - NAMED_MAX} more`] : []
  return `${type}:${action}  ${[...all.slice(0, NAMED_MAX), ...rest].join(', ')}`
}

function scopeText(scope: Readonly<Record<string, string>>): string {
  const parts = Object.entries(scope).map(([what, name]) => `${what} ${name}`)
  return parts.length === 0 ? 'everything' : parts.join(' ')
}
