/** One kind of parts of a type: its name, how many there are, each, and a way to add one. */
import type { ReactNode } from 'react'
import { useSpoken } from '../../texts/texts.tsx'

export function PanelSection<Item>({
  title,
  items,
  none,
  add,
  itemKey,
  children,
}: {
  readonly title: string
  readonly items: readonly Item[]
  /** What to read where there is none. */
  readonly none: string
  readonly add?: ReactNode
  readonly itemKey: (item: Item) => string
  readonly children: (item: Item) => ReactNode
}) {
  const { number } = useSpoken()
  return (
    <section className="panel-section">
      <div className="row apart">
        <h3>
          {title} <span className="soft">{number(items.length)}</span>
        </h3>
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
