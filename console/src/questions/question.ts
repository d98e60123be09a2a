/** A question as one types it, and its form in an address: everything of it, so that a link asks it anew. The key is no part of it. */
import { attributesIn } from '../interface/attributes.ts'
import type { Schemas } from '../interface/client.ts'
import type { Place } from '../shell/place.tsx'

/** What is in the fields of the form. Attributes are JSON texts. */
export interface Question {
  readonly user: string
  readonly action: string
  readonly type: string
  /** Empty: the question is about the type as a whole. */
  readonly key: string
  /** Empty: the tenant of the resource, else the default one. */
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

/** Where a page begins in the hash: `#/project/environment/questions/…`. */
const PARTS_BEFORE = 4

/**
 * The question in the hash of an address. It is the last part of the path, in the form of a query: a `?` in the hash would move it into
 * what servers see. Taken from the hash itself, since the router decodes what it hands on.
 */
export function questionIn(hash: string): Question {
  const sent = new URLSearchParams(hash.split('/').slice(PARTS_BEFORE).join('/'))
  const filled = FIELDS.map(field => [field, sent.get(field) ?? ''])
  return Object.fromEntries(filled) as unknown as Question
}

/** The address of the page that asks this question. Other pages link here. */
export function questionAddress(place: Place, question: Partial<Question>): string {
  const filled = FIELDS.flatMap(field => (question[field] ? [[field, question[field]]] : []))
  return `${place.to('questions')}/${new URLSearchParams(filled).toString()}`
}

/** Whether it can be sent. */
export function isComplete(question: Question): boolean {
  return (
    REQUIRED.every(field => question[field] !== '') &&
    ATTRIBUTES.every(field => attributesIn(question[field]) !== null)
  )
}

/** What is sent. */
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
