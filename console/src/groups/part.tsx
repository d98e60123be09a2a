/** One of the lists of a group: its name, what it is, what is added to it, and the list. */
import type { ReactNode, RefObject } from 'react'
import type { Group } from './group-calls.ts'

/** What each list is given. */
export interface PartOfGroup {
  readonly group: Group
  readonly heading: RefObject<HTMLHeadingElement | null>
  /** A row is gone, and the focus with it. */
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
