/** What the interface answers to "why?", by parts. */
import type { Schemas } from '../interface/client.ts'

export type Explained = Schemas['ExplainedResult']
/** What was asked, as the service understood it. */
export type Request = Explained['debug']['request']
export type Step = NonNullable<Explained['debug']['rebac']['path']>[number]
export type Derivation = Extract<Step, { readonly kind: 'derivation' }>
export type Instance = Derivation['subject']
export type NearMiss = NonNullable<Explained['debug']['rebac']['near_misses']>[number]
export type Rule = Schemas['ExplainedRule']
/** The sets of a rule that allows, or what stands for one. */
export type RuleNames = Explained['debug']['abac']['allowing_rules'][number]

/** As one writes a resource: `document:roadmap`, or its type alone. */
export function resourceName({ type, key }: { readonly type: string; readonly key?: string | null }): string {
  return key ? `${type}:${key}` : type
}
