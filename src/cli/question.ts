/** A question as people ask it, and as `/allowed` takes it. */
import { parseInstanceReference } from '#model/instance-reference.ts'

export interface SingleQuestion {
  readonly user: string
  readonly action: string
  /** `type:key`; without a colon a type as a whole. */
  readonly resource: string
  readonly tenant?: string | undefined
}

export function questionBody({ user, action, resource, tenant }: SingleQuestion) {
  const instance = parseInstanceReference(resource) ?? { type: resource }
  return { user: { key: user }, action, resource: { ...instance, ...(tenant !== undefined && { tenant }) } }
}
