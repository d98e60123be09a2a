/** Lets the user select the type of the values of an attribute. */
import type { FieldProblem } from '../../interface/problem.ts'
import { Choice } from '../../parts/fields.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { AttributeKind } from '../model-edits.ts'

export function KindChoice({
  value,
  onChange,
  ...look
}: {
  readonly value: AttributeKind
  readonly onChange: (kind: AttributeKind) => void
  readonly description?: string | undefined
  readonly problem?: FieldProblem | null | undefined
  readonly isDisabled?: boolean
}) {
  const { kind, kinds } = useTexts().model.graph
  return (
    <Choice
      label={kind}
      value={value}
      onChange={chosen => onChange(chosen as AttributeKind)}
      options={Object.entries(kinds).map(([id, note]) => ({ id, note }))}
      {...look}
    />
  )
}
