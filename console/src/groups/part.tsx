/**
 * Layout of one list of a group: its name, its description, the control that adds an entry, and the entries.
 */
import type { ReactNode, RefObject } from 'react'
import type { Group } from './group-calls.ts'

/** Properties that every list of a group has. */
export interface PartOfGroup {
  readonly group: Group
  readonly heading: RefObject<HTMLHeadingElement | null>
  /** Called when a row with the focus was removed. */
  readonly onGone: () => void
}

export function Part({
  heading,
  title,
  lead,
  action,
  children,
}: Pick<PartOfGroup, 'heading'> & {
  readonly title: string
  readonly lead: string
  readonly action: ReactNode
  readonly children: ReactNode
}) {
  return (
    <section className="card">
      <div className="stack">
        <div className="row apart">
          <div className="grow">
            <h2 ref={heading} tabIndex={-1}>
              {title}
            </h2>
            <p className="soft small">{lead}</p>
          </div>
          {action}
        </div>
        {children}
      </div>
    </section>
  )
}
