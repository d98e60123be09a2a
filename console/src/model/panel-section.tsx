/**
 * Section of the panel about one kind of model parts. It has a title, the number of parts, their list and a
 * control that adds a part.
 */
import type { ReactNode } from 'react'
import { useSpoken } from '../texts/texts.tsx'

export function PanelSection<Item>({
  title,
  items,
  none,
  add,
  itemKey,
  level = 3,
  children,
}: {
  readonly title: string
  readonly items: readonly Item[]
  /** Text for an empty list. */
  readonly none: string
  readonly add?: ReactNode
  readonly itemKey: (item: Item) => string
  /** Level of the section heading. */
  readonly level?: 2 | 3
  readonly children: (item: Item) => ReactNode
}) {
  const { number } = useSpoken()
  const Heading = level === 2 ? 'h2' : 'h3'
  return (
    <section className="panel-section">
      <div className="row apart">
        <Heading>
          {title} <span className="soft">{number(items.length)}</span>
        </Heading>
        {add}
      </div>
      {items.length === 0 ? (
        <p className="soft small">{none}</p>
      ) : (
        <ul>
          {items.map(item => (
            <li key={itemKey(item)}>{children(item)}</li>
          ))}
        </ul>
      )}
    </section>
  )
}
