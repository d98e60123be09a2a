/** API schema of the explanation of a decision: the `debug` of `/allowed` (native.md A.2, D-20). */
import { Type } from 'typebox'
import { AttributeMap, nullable } from './building-blocks.ts'
import { DerivationStep, ExplainedExpiry, InstanceName, NearMiss } from './near-miss.ts'

/** Source of a role: held in the tenant, held on an instance, or derived from the previous step. */
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
  code: Type.String({ description: '`allow`, or why not.' }),
  reason: Type.String(),
  allowing_roles: Type.Array(Type.String()),
  expires_at: ExplainedExpiry,
  path: Type.Optional(Type.Array(DecisionStep)),
  truncated: Type.Optional(
    Type.Boolean({
      description:
        'Only where too much leads to the resource for the reasons to be found: it may be that more roles are held on it than named, and an allow may be without roles and path. The decision is right all the same.',
    }),
  ),
})

export const DecisionDebugRebac = Type.Object({
  ...DecisionDebugPart.properties,
  near_misses: Type.Optional(
    Type.Array(NearMiss, {
      description:
        'Of a deny, in `/allowed/explain`: what would have allowed, but for one thing. The nearest first, at most 3, none over more than 32 derivations; absent where there are none. What is not there, a tuple, comes last.',
    }),
  ),
  more_near_misses: Type.Optional(
    Type.Literal(true, {
      description: 'There are more, or may be: more leads to the resource than was looked at.',
    }),
  ),
})

const KeyOfSet = Type.String()

export const DecisionDebugAbac = Type.Object({
  allow: Type.Boolean(),
  code: Type.Enum(
    ['disabled', 'no_matching_usersets', 'no_matching_resourcesets', 'no_matching_rules', 'allow'],
    { description: '`allow`, or the first of these that holds; `disabled`: the environment has no rules.' },
  ),
  reason: Type.String(),
  allowing_rules: Type.Array(
    Type.Object({
      userset: Type.Optional(KeyOfSet),
      role: Type.Optional(Type.String({ description: 'In place of a user set.' })),
      resourceset: Type.Optional(KeyOfSet),
      resource_type: Type.Optional(Type.String({ description: 'In place of a resource set.' })),
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
