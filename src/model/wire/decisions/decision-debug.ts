/** API schema of the explanation of a decision: the `debug` of `/allowed` (native.md A.2, D-20). */
import { Type } from 'typebox'
import { AttributeMap, nullable } from '#model/wire/common-fields.ts'
import { DerivationStep, ExplainedExpiry, InstanceName, NearMiss } from './near-miss.ts'

/**
 * One step of a path. Its role is held in the tenant, held on an instance, or derived from the role of the
 * previous step.
 */
export const DecisionStep = Type.Union([
  Type.Object({
    kind: Type.Literal('tenant-role'),
    tenant: Type.String(),
    role: Type.String(),
    expires_at: ExplainedExpiry,
  }),
  Type.Object({
    kind: Type.Literal('instance-role'),
    instance: InstanceName,
    role: Type.String(),
    expires_at: ExplainedExpiry,
  }),
  DerivationStep,
])

export const DecisionDebugPart = Type.Object({
  allow: Type.Boolean(),
  code: Type.String({ description: '`allow`, or the reason for the denial.' }),
  reason: Type.String(),
  allowing_roles: Type.Array(Type.String()),
  expires_at: ExplainedExpiry,
  path: Type.Optional(Type.Array(DecisionStep)),
  truncated: Type.Optional(
    Type.Boolean({
      description:
        'Present if so many paths lead to the resource that not all reasons were found. The user might hold more roles on the resource than are listed, and an allow might have no roles and no path. The decision is correct.',
    }),
  ),
})

export const DecisionDebugRebac = Type.Object({
  ...DecisionDebugPart.properties,
  near_misses: Type.Optional(
    Type.Array(NearMiss, {
      description:
        'Near misses of a denied check in `/allowed/explain`. A near miss fails because of exactly one condition. There are at most 3, beginning with the nearest, each through at most 32 derivations. Near misses with a missing tuple come last. Absent if there are none.',
    }),
  ),
  more_near_misses: Type.Optional(
    Type.Literal(true, {
      description:
        'Present if there are or might be more near misses, because not all paths to the resource were examined.',
    }),
  ),
})

const KeyOfSet = Type.String()

export const DecisionDebugAbac = Type.Object({
  allow: Type.Boolean(),
  code: Type.Enum(
    ['disabled', 'no_matching_usersets', 'no_matching_resourcesets', 'no_matching_rules', 'allow'],
    {
      description:
        '`allow`, or the first of the other values that applies. `disabled` means that the environment has no rules.',
    },
  ),
  reason: Type.String(),
  allowing_rules: Type.Array(
    Type.Object({
      userset: Type.Optional(KeyOfSet),
      role: Type.Optional(Type.String({ description: 'Replaces a user set.' })),
      resourceset: Type.Optional(KeyOfSet),
      resource_type: Type.Optional(Type.String({ description: 'Replaces a resource set.' })),
    }),
    { description: 'At most 100.' },
  ),
  matching_usersets: Type.Optional(
    Type.Array(KeyOfSet, { description: 'User sets of rules on the action that match; at most 100.' }),
  ),
  matching_resourcesets: Type.Optional(
    Type.Array(KeyOfSet, { description: 'Resource sets of rules on the action that match; at most 100.' }),
  ),
})

export const DecisionDebug = Type.Object({
  request: Type.Object({
    user: Type.Object({ key: Type.String(), synced: Type.Boolean(), attributes: AttributeMap }),
    tenant: Type.String(),
    action: Type.String(),
    resource: Type.Object({ type: Type.String(), key: nullable(Type.String()), attributes: AttributeMap }),
  }),
  rbac: DecisionDebugPart,
  rebac: DecisionDebugRebac,
  abac: DecisionDebugAbac,
})
