/** A type in the graph: a button with its name, and one row per role. */
import type { PlacedBox } from './placed.ts'

export function BoxNode({
  box,
  heard,
  isChosen,
  look,
  isStop,
  onElement,
  onFocus,
  onPress,
}: {
  readonly box: PlacedBox
  /** Full name of the type, for screen readers. */
  readonly heard: string
  readonly isChosen: boolean
  /**
   * Appearance while another type is selected. `near`: the type is a neighbor of the selected type. `dim`: it
   * is not.
   */
  readonly look: '' | 'near' | 'dim'
  /** Whether the Tab key moves the focus to this button. */
  readonly isStop: boolean
  readonly onElement: (element: SVGGElement | null) => void
  readonly onFocus: () => void
  readonly onPress: () => void
}) {
  const { width, height, title, farTitle, subtitle, rows, loop } = box
  return (
    <g
      ref={onElement}
      role="button"
      tabIndex={isStop ? 0 : -1}
      aria-pressed={isChosen}
      className={`graph-type ${isChosen ? 'chosen' : look}`}
      transform={`translate(${box.x} ${box.y})`}
      onFocus={onFocus}
      onClick={onPress}
      onKeyDown={event => {
        if (event.key !== 'Enter' && event.key !== ' ') return
        event.preventDefault()
        onPress()
      }}
    >
      <title>{heard}</title>
      {loop === '' ? null : (
        <text className="loop" x="12" y="-7">
          {loop}
        </text>
      )}
      <rect className="frame-line" width={width} height={height} rx="8" />
      {rows.length === 0 ? null : <line className="divide" x1="0" x2={width} y1="45" y2="45" />}
      {rows.length === 0 ? (
        <text className="far-title" x={width / 2} y="32" textAnchor="middle">
          {farTitle}
        </text>
      ) : null}
      <text className="title" x="12" y="20">
        {title}
      </text>
      <text className="subtitle" x="12" y="37">
        {subtitle}
      </text>
      {rows.map(row => (
        <g key={row.role} transform={`translate(0 ${row.y})`}>
          <circle className="port" cx="0" cy="12" r="2.5" />
          <circle className="port" cx={width} cy="12" r="2.5" />
          <text className="role" x="12" y="17">
            {row.text}
          </text>
          <text className="note" x={width - 12} y="17" textAnchor="end">
            {row.note}
          </text>
        </g>
      ))}
    </g>
  )
}
