/**
 * A role that a user or group holds, in the syntax of the command line: `ann editor on document:d1`, `ann
 * auditor in acme`.
 */
import type { Argv } from 'yargs'
import type { InstanceKey } from '#model/change.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import { formatInstanceReference, parseInstanceReference } from '#model/instance-reference.ts'
import { UsageError } from '#cli/session/exit-codes.ts'

export interface Grant {
  /** Key of a user or of a group. */
  readonly holder: string
  readonly isGroup: boolean
  readonly role: string
  /** Instance on which the role is held. Null if the role is held in a tenant. */
  readonly instance: InstanceKey | null
  /**
   * For a tenant role, the tenant in which it is held. For a role on an instance, the tenant in which the
   * service creates the instance if it is missing. If undefined, the instance must exist.
   */
  readonly tenant: string | undefined
}

const WORDS = ['on', 'in'] as const

/** Adds the arguments `<user> <role> [on|in] [place]` to a command. */
export const grantArguments = <Given>(command: Argv<Given>) =>
  command
    .positional('user', {
      type: 'string',
      demandOption: true,
      describe: 'key of the user; with --group, key of the group',
    })
    .positional('role', { type: 'string', demandOption: true, describe: 'key of the role' })
    .positional('on', { choices: WORDS, describe: 'on: an instance; in: a tenant' })
    .positional('place', {
      type: 'string',
      describe: `type:key of the instance, or key of the tenant; default: tenant ${DEFAULT_TENANT}`,
    })
    .option('group', {
      type: 'boolean',
      default: false,
      describe: 'the first argument is the key of a group',
    })

interface GivenGrant {
  readonly user: string
  readonly role: string
  readonly on?: (typeof WORDS)[number] | undefined
  readonly place?: string | undefined
  readonly group: boolean
  readonly tenant?: string | undefined
}

/** Parses a grant. Throws `UsageError` if its place is not valid. */
export function grantOf({ user: holder, role, on: word, place, group: isGroup, tenant }: GivenGrant): Grant {
  if (word !== undefined && place === undefined)
    throw new UsageError(`${word}: expected ${word === 'on' ? 'type:key' : 'the key of a tenant'} after it`)
  if (word !== 'on') {
    if (isGroup) throw new UsageError('a group holds roles on instances only; add the instance: on type:key')
    if (tenant !== undefined)
      throw new UsageError(
        '--tenant is only for the creation of an instance; for a tenant role, use: in <tenant>',
      )
    return { holder, isGroup, role, instance: null, tenant: place ?? DEFAULT_TENANT }
  }
  const instance = parseInstanceReference(place!)
  if (instance === null) throw new UsageError(`on: expected type:key, got ${JSON.stringify(place)}`)
  return { holder, isGroup, role, instance, tenant }
}

/** Formats a grant: `ann: editor on document:d1`. */
export function grantText({ holder, isGroup, role, instance, tenant }: Grant): string {
  const where = instance ? `on ${formatInstanceReference(instance)}` : `in ${tenant}`
  return `${isGroup ? 'group ' : ''}${holder}: ${role} ${where}`
}

/** Returns the grant as JSON output. */
export function shownGrant({ holder, isGroup, role, instance, tenant }: Grant) {
  const where = instance ? { resource_instance: formatInstanceReference(instance) } : { tenant }
  return { ...(isGroup ? { group: holder } : { user: holder }), role, ...where }
}
