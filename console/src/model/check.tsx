/** Checkbox for a yes-or-no property. */
import type { ReactNode } from 'react'

export function Check({
  isOn,
  onChange,
  children,
}: {
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly children: ReactNode
}) {
  return (
    <label className="check">
      <input type="checkbox" checked={isOn} onChange={event => onChange(event.target.checked)} />
      <span>{children}</span>
    </label>
  )
}
