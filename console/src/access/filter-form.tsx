/**
 * Form with the filters of a list. The search starts only when the form is submitted, because a partly typed
 * key matches nothing.
 */
import type { ReactNode } from 'react'
import { Form } from 'react-aria-components/Form'
import { Action } from '../parts/action.tsx'
import { useTexts } from '../texts/texts.tsx'

export function FilterForm({
  label,
  onShow,
  onClear,
  children,
}: {
  readonly label: string
  readonly onShow: () => void
  readonly onClear: () => void
  readonly children: ReactNode
}) {
  const labels = useTexts().access
  return (
    <search className="card" aria-label={label}>
      <Form
        className="stack"
        onSubmit={event => {
          event.preventDefault()
          onShow()
        }}
      >
        <div className="asked">{children}</div>
        <div className="row">
          <Action type="submit" kind="primary">
            {labels.show}
          </Action>
          <Action kind="quiet" onPress={onClear}>
            {labels.clear}
          </Action>
        </div>
      </Form>
    </search>
  )
}
