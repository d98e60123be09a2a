/**
 * A check, as the user enters it in the form, and its representation in an address. The address contains
 * everything except the API key, so a link repeats the check.
 */
import { attributesIn } from '../interface/attributes.ts'
import type { Schemas } from '../interface/client.ts'
import type { CurrentEnvironment } from '../shell/current-environment.tsx'

/** Values of the form fields. Attributes are JSON texts. */
export interface Question {
  readonly user: string
  readonly action: string
  readonly type: string
  /** Key of the instance. If it is empty, the check is about the type as a whole. */
  readonly key: string
  /** Key of the tenant. If it is empty, the tenant of the resource is used, or the default tenant. */
  readonly tenant: string
  readonly userAttributes: string
  readonly resourceAttributes: string
  readonly context: string
}

export type Field = keyof Question

const NO_QUESTION: Question = {
  user: '',
  action: '',
  type: '',
  key: '',
  tenant: '',
  userAttributes: '',
  resourceAttributes: '',
  context: '',
}

export const ATTRIBUTES = ['userAttributes', 'resourceAttributes', 'context'] as const

const FIELDS = Object.keys(NO_QUESTION) as readonly Field[]
const REQUIRED: readonly Field[] = ['user', 'action', 'type']

/** Number of parts of an address before the check: `#/project/environment/questions/…`. */
const PARTS_BEFORE = 4

/**
 * Reads the check from the hash of an address. It is the last part of the path and has the form of a query
 * string. It is not a real query (`?`), because browsers would send that to servers. The hash is read
 * directly, because the router decodes addresses.
 */
export function questionIn(hash: string): Question {
  const sent = new URLSearchParams(hash.split('/').slice(PARTS_BEFORE).join('/'))
  const filled = FIELDS.map(field => [field, sent.get(field) ?? ''])
  return Object.fromEntries(filled) as unknown as Question
}

/** Address of the page for this check. Used for links on other pages. */
export function questionAddress(environment: CurrentEnvironment, question: Partial<Question>): string {
  const filled = FIELDS.flatMap(field => (question[field] ? [[field, question[field]]] : []))
  return `${environment.to('questions')}/${new URLSearchParams(filled).toString()}`
}

/** Whether all required fields are filled, so that the check can be sent. */
export function isComplete(question: Question): boolean {
  return (
    REQUIRED.every(field => question[field] !== '') &&
    ATTRIBUTES.every(field => attributesIn(question[field]) !== null)
  )
}

/** Request body. */
export function bodyOf(question: Question): Schemas['AllowedQuery'] {
  const attributes = (field: (typeof ATTRIBUTES)[number]) => attributesIn(question[field]) ?? null
  return {
    user: { key: question.user, attributes: attributes('userAttributes') },
    action: question.action,
    resource: {
      type: question.type,
      key: question.key === '' ? null : question.key,
      ...(question.tenant !== '' && { tenant: question.tenant }),
      attributes: attributes('resourceAttributes'),
    },
    context: attributes('context'),
  }
}
