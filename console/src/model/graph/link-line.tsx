/**
 * A line for the relations between two types, and lines for the roles that are derived through these
 * relations.
 */
import { LABEL_LINE } from './link-path.ts'
import type { PlacedLink } from './placed.ts'

export function LinkLine({
  placed: { offset, path, derived, label },
  arrow,
  look,
}: {
  readonly placed: PlacedLink
  /** Id of the arrowhead marker. */
  readonly arrow: string
  readonly look: '' | 'lit' | 'dim'
}) {
  return (
    <g className={`graph-link ${look}`} transform={`translate(${offset.x} ${offset.y})`}>
      <path className="relation" d={path} markerEnd={`url(#${arrow}-relation)`} />
      {derived.map((line, index) => (
        <path key={index} className="derived" d={line} markerEnd={`url(#${arrow}-derived)`} />
      ))}
      <rect {...{ x: label.x, y: label.y, width: label.width, height: label.height }} rx="5" />
      <text textAnchor="middle">
        {label.lines.map((line, index) => (
          <tspan key={line} x={label.x + label.width / 2} y={label.y + 16 + index * LABEL_LINE}>
            {line}
          </tspan>
        ))}
      </text>
    </g>
  )
}
