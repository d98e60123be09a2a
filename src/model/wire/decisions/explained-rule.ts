/** API schemas of evaluated conditions and rules, in the response of `/allowed/explain` (conditions.md 9). */
import { type Static, Type } from 'typebox'

export const TruthValue = Type.Enum(['true', 'false', 'unknown'], {
  description: 'A set matches only if this is `true`.',
})

/** Fields of a test of an attribute. */
export const explainedTestFields = {
  path: Type.String({ description: 'The attribute, as the condition names it.' }),
  operator: Type.String(),
  operand: Type.Optional(
    Type.Unknown({
      description:
        'The operand as the condition contains it. Absent if the test has conditions on the members of a list.',
    }),
  ),
  found: Type.Unknown({ description: 'Value of the attribute, or `missing`.' }),
  is_missing: Type.Optional(
    Type.Literal(true, {
      description:
        'Present only if the attribute is missing. It distinguishes a missing attribute from the text `missing`.',
    }),
  ),
  value: TruthValue,
}

export const ExplainedTest = Type.Object(explainedTestFields, {
  description:
    'A test of an attribute. In `leaf`, it is the first test, in the order of the document, that determined the value of the side. Absent if the side is a role, a resource or a set without conditions.',
})
type ExplainedTestItem = Static<typeof ExplainedTest>

/** Returns a test as it is written in responses. */
export function explainedTestItem({
  path,
  operator,
  operand,
  found,
  isMissing,
  value,
}: Omit<ExplainedTestItem, 'is_missing'> & { readonly isMissing?: true }): ExplainedTestItem {
  return { path, operator, operand, found, ...(isMissing && { is_missing: true }), value }
}

export const ExplainedSide = Type.Object({
  value: TruthValue,
  leaf: Type.Optional(ExplainedTest),
  tree: Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      additionalProperties: true,
      description:
        'Only with `full`: a test as in `leaf`, or `{connective, value, items}` with `allOf`, `anyOf` or `not` of such trees. Conditions of a set and of its ancestors are combined with `allOf`.',
    }),
  ),
})

export const ExplainedRule = Type.Object({
  user_set: Type.String(),
  resource_set: Type.String(),
  outcome: Type.Enum(['yes', 'no'], {
    description: 'Whether the rule allows access: both sides are `true`.',
  }),
  user: ExplainedSide,
  resource: ExplainedSide,
})
