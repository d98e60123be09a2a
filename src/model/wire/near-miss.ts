/**
 * API schemas of near misses in the response of `/allowed/explain`: checks that fail because of exactly one
 * condition.
 */
import { type Static, Type } from 'typebox'
import { moment } from './building-blocks.ts'

export const InstanceName = Type.Object({ type: Type.String(), key: Type.String() })

export const NamedDerivation = Type.Object({
  role: Type.String(),
  onType: Type.String(),
  relation: Type.String(),
  guarded: Type.Boolean(),
})

export const ExplainedExpiry = Type.Optional(moment('When the grant of this step ends; absent: it lasts.'))

/** The role of the derivation on `subject` gives `role` on `object`, through the relation. */
export const DerivationStep = Type.Object({
  kind: Type.Literal('derivation'),
  subject: InstanceName,
  relation: Type.String(),
  object: InstanceName,
  role: Type.String(),
  derivation: NamedDerivation,
  expires_at: ExplainedExpiry,
})

const PathSteps = Type.Array(DerivationStep)

export const NearMiss = Type.Union([
  Type.Object(
    {
      kind: Type.Literal('other-role'),
      instance: InstanceName,
      needed_roles: Type.Array(Type.String(), { description: 'Any of them would do; at most 20.' }),
      held_roles: Type.Array(
        Type.Object({
          role: Type.String(),
          extends_needed: Type.Boolean({
            description:
              'It extends a needed role and so has its permissions. A derivation asks for the role itself.',
          }),
        }),
        { description: 'Direct or derived, those that extend a needed one first; at most 20.' },
      ),
      path: PathSteps,
    },
    { description: 'The user holds roles on `instance`, but none of those from which `path` leads here.' },
  ),
  Type.Object(
    {
      kind: Type.Literal('guard'),
      instance: InstanceName,
      blocking_roles: Type.Array(Type.String(), { description: 'Held directly; at most 20.' }),
      path: PathSteps,
    },
    {
      description:
        'The user holds the role that `path` begins with, but its first derivation is void for whoever holds a role on `instance` directly (`no_direct_roles_on_object`).',
    },
  ),
  Type.Object(
    {
      kind: Type.Literal('no-tuple'),
      instance: InstanceName,
      role: Type.String(),
      derivation: NamedDerivation,
      held_on: InstanceName,
    },
    {
      description:
        "Nothing is related to `instance` by the derivation's relation. The user holds the derivation's role on `held_on`, as perhaps on others: related, that would give `role`.",
    },
  ),
])
export type NearMiss = Static<typeof NearMiss>
