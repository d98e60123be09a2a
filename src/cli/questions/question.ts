/** A check from the command line, and its conversion to a request for `/allowed`. */
import type { Argv } from 'yargs'
import { isObject, type JsonObject } from '#model/json-object.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import { UsageError } from '#cli/session/exit-codes.ts'

export interface SingleQuestion {
  readonly user: string
  readonly action: string
  /** `type:key`, or a type without a key. */
  readonly resource: string
  readonly tenant?: string | undefined
  readonly attributes?: AttributesAndContext['attributes']
  readonly context?: AttributesAndContext['context']
}

/** Attributes and context of a check. */
export interface AttributesAndContext {
  /** Attributes of the user and the resource. They take precedence over stored attributes. */
  readonly attributes?: { readonly user?: JsonObject; readonly resource?: JsonObject } | undefined
  readonly context?: JsonObject | undefined
}

const required = (describe: string) => ({ type: 'string', demandOption: true, describe }) as const

/** Arguments that describe the parts of a check. */
export const ARGUMENT = {
  user: required('key of the user'),
  action: required('key of the action'),
  type: required('key of the type'),
  instance: required('type:key'),
  resource: required('type:key, or a type for a check of the type'),
  tenant: { type: 'string', describe: 'tenant of the check' },
} as const

/** Adds the arguments `<user> <action> <resource>` to a command. */
export const questionArguments = <Given>(command: Argv<Given>) =>
  command
    .positional('user', ARGUMENT.user)
    .positional('action', ARGUMENT.action)
    .positional('resource', ARGUMENT.resource)
    .option('tenant', ARGUMENT.tenant)

/** Adds the options for the attributes and the context of a check to a command. */
export const attributeArguments = <Given>(command: Argv<Given>) =>
  command
    .option('attributes', {
      type: 'string',
      describe: 'JSON: {"user": {…}, "resource": {…}}, attributes that override the stored ones',
    })
    .option('context', { type: 'string', describe: 'JSON: {…}, context of the check' })

/** Builds a check from arguments. Throws `UsageError` if the JSON of an option is invalid. */
export function questionOf(given: {
  readonly user: string
  readonly action: string
  readonly resource: string
  readonly tenant?: string | undefined
  readonly attributes?: string | undefined
  readonly context?: string | undefined
}): SingleQuestion {
  const { user, action, resource, tenant } = given
  return { user, action, resource, tenant, ...attributesAndContext(given) }
}

/** Parses the options for attributes and context. Throws `UsageError` if the JSON of an option is invalid. */
export function attributesAndContext(given: {
  readonly attributes?: string | undefined
  readonly context?: string | undefined
}): AttributesAndContext {
  const attributes = objectOf('attributes', given.attributes)
  for (const [side, value] of Object.entries(attributes ?? {})) {
    if ((side === 'user' || side === 'resource') && isObject(value)) continue
    throw new UsageError(
      `--attributes: expected {"user": {…}, "resource": {…}}, got ${JSON.stringify(side)}: ${JSON.stringify(value)}`,
    )
  }
  return { attributes, context: objectOf('context', given.context) }
}

function objectOf(option: string, text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined
  let value: unknown
  try {
    value = parsedJson(text)
  } catch (error) {
    throw new UsageError(`--${option}: ${(error as Error).message}`)
  }
  if (!isObject(value)) throw new UsageError(`--${option}: expected a JSON object, got ${text}`)
  return value
}

export function questionBody({ user, action, resource, tenant, attributes, context }: SingleQuestion) {
  const instance = parseInstanceReference(resource) ?? { type: resource }
  return {
    user: { key: user, ...(attributes?.user && { attributes: attributes.user }) },
    action,
    resource: {
      ...instance,
      ...(tenant !== undefined && { tenant }),
      ...(attributes?.resource && { attributes: attributes.resource }),
    },
    ...(context && { context }),
  }
}
