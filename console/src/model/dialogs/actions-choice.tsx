/** Lets the user select some of the actions of a type. */
import { Check } from '../check.tsx'

export function ActionsChoice({
  label,
  actions,
  chosen,
  onChange,
  description,
}: {
  readonly label: string
  readonly actions: readonly string[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
  readonly description?: string | undefined
}) {
  if (actions.length === 0) return null
  return (
    <fieldset className="checks-of">
      <legend>{label}</legend>
      <div className="row">
        {actions.map(action => (
          <Check
            key={action}
            isOn={chosen.includes(action)}
            // The selected actions stay in the order of the type.
            onChange={isOn =>
              onChange(actions.filter(each => (each === action ? isOn : chosen.includes(each))))
            }
          >
            {action}
          </Check>
        ))}
      </div>
      {description === undefined ? null : <p className="soft small">{description}</p>}
    </fieldset>
  )
}
