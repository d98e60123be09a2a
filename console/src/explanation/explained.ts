/** Types for the parts of an explanation as returned by the API. */
import type { Schemas } from '../interface/client.ts'

export type Explained = Schemas['ExplainedResult']
/** The checked request, as interpreted by the service. */
export type Request = Explained['debug']['request']
export type Step = NonNullable<Explained['debug']['rebac']['path']>[number]
export type Derivation = Extract<Step, { readonly kind: 'derivation' }>
export type Instance = Derivation['subject']
export type NearMiss = NonNullable<Explained['debug']['rebac']['near_misses']>[number]
export type Rule = Schemas['ExplainedRule']
/** Condition sets of an allowing rule, or the role or type that takes the place of a set. */
export type RuleNames = Explained['debug']['abac']['allowing_rules'][number]

/** Formats a resource as `document:roadmap`, or as its type alone. */
export function resourceName({ type, key }: { readonly type: string; readonly key?: string | null }): string {
  return key ? `${type}:${key}` : type
}
