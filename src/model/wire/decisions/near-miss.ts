/**
 * API schemas of near misses in the response of `/allowed/explain`: checks that fail because of exactly one
 * condition.
 */
import { Type } from 'typebox'
import { moment } from '#model/wire/common-fields.ts'

export const InstanceName = Type.Object({ type: Type.String(), key: Type.String() })

export const NamedDerivation = Type.Object({
  role: Type.String(),
  onType: Type.String(),
  relation: Type.String(),
  guarded: Type.Boolean(),
})

export const ExplainedExpiry = Type.Optional(
  moment('Expiration time of the grant of this step. Absent: it does not expire.'),
)

/** A derivation: through the relation, the role that is held on `subject` gives `role` on `object`. */
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
      needed_roles: Type.Array(Type.String(), {
        description: 'Roles, each of which would be sufficient; at most 20.',
      }),
      held_roles: Type.Array(
        Type.Object({
          role: Type.String(),
          extends_needed: Type.Boolean({
            description:
              'The role extends a needed role and has its permissions, but a derivation requires the needed role itself.',
          }),
        }),
        {
          description:
            'Direct or derived roles that the user holds; roles that extend a needed role come first. At most 20.',
        },
      ),
      path: PathSteps,
    },
    { description: 'The user holds roles on `instance`, but none of the roles at the start of `path`.' },
  ),
  Type.Object(
    {
      kind: Type.Literal('guard'),
      instance: InstanceName,
      blocking_roles: Type.Array(Type.String(), {
        description: 'Direct roles of the user that block the derivation; at most 20.',
      }),
      path: PathSteps,
    },
    {
      description:
        'The user holds the role at the start of `path`, but its first derivation does not apply to users who hold a direct role on `instance` (`no_direct_roles_on_object`).',
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
        'No instance is related to `instance` by the relation of the derivation. The user holds the role of the derivation on `held_on`, and possibly on other instances. A tuple from `held_on` to `instance` would grant `role`.',
    },
  ),
])
