/** The explanation of a decision on the wire: the `debug` of `/allowed` (contract A.2, D-20). */
import { type Static, Type } from 'typebox'
import { AttributeMap, nullable } from './building-blocks.ts'

export const InstanceName = Type.Object({ type: Type.String(), key: Type.String() })

/** How a role came about: held in the tenant, held on an instance, or derived from the step before. */
export const DecisionStep = Type.Union([
  Type.Object({ kind: Type.Literal('tenant-role'), tenant: Type.String(), role: Type.String() }),
  Type.Object({ kind: Type.Literal('instance-role'), instance: InstanceName, role: Type.String() }),
  Type.Object({
    kind: Type.Literal('derivation'),
    subject: InstanceName,
    relation: Type.String(),
    object: InstanceName,
    role: Type.String(),
    derivation: Type.Object({
      role: Type.String(),
      onType: Type.String(),
      relation: Type.String(),
      guarded: Type.Boolean(),
    }),
  }),
])

export const DecisionDebugPart = Type.Object({
  allow: Type.Boolean(),
  code: Type.String({ description: '`allow`, or why not.' }),
  reason: Type.String(),
  allowing_roles: Type.Array(Type.String()),
  path: Type.Optional(Type.Array(DecisionStep)),
  truncated: Type.Optional(
    Type.Boolean({
      description:
        'Only where too much leads to the resource for the reasons to be found: it may be that more roles are held on it than named, and an allow may be without roles and path. The decision is right all the same.',
    }),
  ),
})

const TruthName = Type.Enum(['true', 'false', 'unknown'])

type TruthName = Static<typeof TruthName>

/** A test of a condition, with what it found. */
export const ExplainedLeaf = Type.Object({
  path: Type.String(),
  operator: Type.String(),
  operand: Type.Optional(Type.Unknown({ description: 'As it was written.' })),
  found: Type.Unknown({ description: 'The value of the attribute; `missing` where there is none.' }),
  missing: Type.Optional(Type.Literal(true, { description: 'There is no such attribute.' })),
  value: TruthName,
})
export type ExplainedLeaf = Static<typeof ExplainedLeaf>

/** A test, or several under a connective, with the value that each has. */
export type ExplainedTree =
  | ExplainedLeaf
  | {
      readonly connective: 'allOf' | 'anyOf' | 'not'
      readonly items: readonly ExplainedTree[]
      readonly value: TruthName
    }
export const ExplainedTree = Type.Unsafe<ExplainedTree>({
  type: 'object',
  description:
    'A test, or tests under a `connective` (`allOf`, `anyOf`, `not`), its `items`; each with its `value`.',
  properties: { value: TruthName },
  required: ['value'],
})

export const ExplainedSideOnWire = Type.Object({
  value: TruthName,
  leaf: Type.Optional(ExplainedLeaf),
  tree: Type.Optional(ExplainedTree),
})
export type ExplainedSideOnWire = Static<typeof ExplainedSideOnWire>

export const ExplainedRuleOnWire = Type.Object({
  user_set: Type.String(),
  resource_set: Type.String(),
  outcome: Type.Enum(['yes', 'no']),
  user: ExplainedSideOnWire,
  resource: ExplainedSideOnWire,
})
export type ExplainedRuleOnWire = Static<typeof ExplainedRuleOnWire>

/** Whether rules on condition sets allow; only where the environment has rules. */
export const AbacDebug = Type.Object({
  allow: Type.Boolean(),
  code: Type.String({ description: '`allow`, or why not.' }),
  reason: Type.String(),
  allowing_rules: Type.Array(
    Type.Object({
      userset: Type.Optional(Type.String()),
      role: Type.Optional(Type.String()),
      resourceset: Type.Optional(Type.String()),
      resource_type: Type.Optional(Type.String()),
    }),
  ),
  matching_usersets: Type.Optional(Type.Array(Type.String())),
  matching_resourcesets: Type.Optional(Type.Array(Type.String())),
})
export type AbacDebug = Static<typeof AbacDebug>

export const DecisionDebug = Type.Object({
  request: Type.Object({
    user: Type.Object({ key: Type.String(), synced: Type.Boolean(), attributes: AttributeMap }),
    tenant: Type.String(),
    action: Type.String(),
    resource: Type.Object({ type: Type.String(), key: nullable(Type.String()), attributes: AttributeMap }),
  }),
  rbac: DecisionDebugPart,
  rebac: DecisionDebugPart,
  abac: Type.Optional(AbacDebug),
})
