/** A question as people ask it, and as `/allowed` takes it. */
import type { Argv } from 'yargs'
import { parseInstanceReference } from '#model/instance-reference.ts'

export interface SingleQuestion {
  readonly user: string
  readonly action: string
  /** `type:key`; without a colon a type as a whole. */
  readonly resource: string
  readonly tenant?: string | undefined
}

const required = (describe: string) => ({ type: 'string', demandOption: true, describe }) as const

/** The parts of a question as arguments, each described once. */
export const ARGUMENT = {
  user: required('key of the user'),
  action: required('key of the action'),
  type: required('key of the type'),
  instance: required('type:key'),
  resource: required('type:key, or a type as a whole'),
  tenant: { type: 'string', describe: 'tenant the question is about' },
} as const

/** Arguments of `<user> <action> <resource>`. */
export const questionArguments = <Given>(command: Argv<Given>) =>
  command
    .positional('user', ARGUMENT.user)
    .positional('action', ARGUMENT.action)
    .positional('resource', ARGUMENT.resource)
    .option('tenant', ARGUMENT.tenant)

export function questionBody({ user, action, resource, tenant }: SingleQuestion) {
  const instance = parseInstanceReference(resource) ?? { type: resource }
  return { user: { key: user }, action, resource: { ...instance, ...(tenant !== undefined && { tenant }) } }
}
