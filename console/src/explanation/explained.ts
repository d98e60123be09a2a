/** Types for the parts of an explanation as returned by the API. */
import type { Schemas } from '../interface/client.ts'

export type Explained = Schemas['ExplainedResult']
/** The checked request, as the service understood it. */
export type Request = Explained['debug']['request']
export type Step = NonNullable<Explained['debug']['rebac']['path']>[number]
export type Derivation = Extract<Step, { readonly kind: 'derivation' }>
export type Instance = Derivation['subject']
export type NearMiss = NonNullable<Explained['debug']['rebac']['near_misses']>[number]
export type Rule = Schemas['ExplainedRule']
/**
 * Names of the user set and the resource set of a rule that allows. A role can take the place of a user set,
 * and a resource type that of a resource set.
 */
export type RuleNames = Explained['debug']['abac']['allowing_rules'][number]

/** Formats a resource as `document:roadmap`, or as its type alone. */
export function resourceName({ type, key }: { readonly type: string; readonly key?: string | null }): string {
  return key ? `${type}:${key}` : type
}
