/**
 * Drawing of a path: nodes are boxes, and edges are arrows. A text next to the drawing describes the same
 * path.
 */
import { type RefObject, useLayoutEffect, useMemo, useState } from 'react'
import type { PathNode } from '../explanation/path-nodes.ts'
import type { Path } from '../explanation/path.ts'
import { useSpoken } from '../texts/texts.tsx'
import { layOut, type Layout, NODE_HEIGHT, type PlacedEdge, type PlacedNode } from './path-layout.ts'

export function PathDrawing({
  path,
  layout,
  label,
  outcome,
}: {
  readonly path: Path
  readonly layout: Layout
  readonly label: string
  /** Decision. It determines the color of the last box. */
  readonly outcome: 'allow' | 'deny'
}) {
  return (
    <svg
      className="path-drawing"
      role="img"
      aria-label={label}
      width={layout.width * layout.scale}
      height={layout.height * layout.scale}
      viewBox={`0 0 ${layout.width} ${layout.height}`}
    >
      {layout.edges.map((edge, index) => (
        <DrawnEdge
          key={index}
          edge={edge}
          isHorizontal={layout.isHorizontal}
          state={path.edges[index]!.state}
        />
      ))}
      {layout.nodes.map((placed, index) => (
        <DrawnNode
          key={index}
          placed={placed}
          node={path.nodes[index]!}
          look={index === 0 ? 'first' : index === layout.nodes.length - 1 ? outcome : ''}
        />
      ))}
    </svg>
  )
}

/**
 * Layout of the drawing. It is computed again when the available width changes. Null until the width is
 * known.
 */
export function useLayout(path: Path, room: RefObject<HTMLElement | null>): Layout | null {
  const { texts, moment } = useSpoken()
  const [available, setAvailable] = useState(0)
  useLayoutEffect(() => {
    const element = room.current
    if (element === null) return
    const measure = (): void => setAvailable(element.clientWidth)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [room])
  return useMemo(() => {
    if (available === 0) return null
    const notes = path.edges.map(({ notes: own, end, state }) => [
      ...(state === 'missing' ? [texts.explanation.path.missing] : []),
      ...own,
      ...(end === undefined ? [] : [texts.parts.until(moment(end))]),
    ])
    return layOut(path, notes, available)
  }, [path, available, texts, moment])
}

/** Paths of the icons, on a grid of 24 × 24. */
const MARKS: Readonly<Record<string, string>> = {
  user: 'M12 11.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5c.6-4 3.7-6.5 7.5-6.500s6.9 2.5 7.5 6.5',
  group:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6M16 4.500a3.5 3.5 0 0 1 0 6.200M18 14.500c2.1.8 3.5 2.8 3.5 5.5',
  tenant:
    'M4 20.500V6l8-3 8 3v14.500M9 20.500v-5h6v5M8.5 9v.01M12 9v.01M15.5 9v.01M8.5 12.500v.01M15.5 12.500v.01',
  role: 'M12 3l8 3v6c0 4.5-3.2 7.7-8 9-4.8-1.3-8-4.5-8-9V6z',
  set: 'M4 5h16l-6 7.500v6l-4 2v-8z',
  thing: 'M6 3h8l4 4v14H6zM13.5 3v4.500H18',
}

function markOf({ kind, type }: PathNode): string {
  if (kind === 'instance') return MARKS[type === 'group' ? 'group' : 'thing']!
  return MARKS[kind] ?? MARKS['thing']!
}

function DrawnNode({
  placed,
  node,
  look,
}: {
  readonly placed: PlacedNode
  readonly node: PathNode
  readonly look: string
}) {
  const { x, y, width, height, name, kind, role } = placed
  return (
    <g className={`node ${look}`} transform={`translate(${x} ${y})`}>
      <rect className="box" x="0.75" y="0.75" width={width - 1.5} height={height - 1.5} rx="10" />
      <g transform="translate(12 13) scale(0.8)" className="mark">
        <path d={markOf(node)} />
      </g>
      <text className="kind" x="40" y="24">
        {kind}
      </text>
      <text className="name" x="40" y="45">
        {name}
      </text>
      {role === null ? null : (
        <>
          <rect className="role" x="9" y={NODE_HEIGHT - 5} width={width - 18} height="22" rx="6" />
          <text className="role-name" x={width / 2} y={NODE_HEIGHT + 10} textAnchor="middle">
            {role}
          </text>
        </>
      )}
    </g>
  )
}

function DrawnEdge({
  edge: { from, to, textAt, text, notes },
  isHorizontal,
  state,
}: {
  readonly edge: PlacedEdge
  readonly isHorizontal: boolean
  readonly state: Path['edges'][number]['state']
}) {
  const [x, y] = to
  const [textX, textY] = textAt
  const anchor = isHorizontal ? 'middle' : 'start'
  const head = isHorizontal ? `M${x - 2} ${y}l-9 -5v10z` : `M${x} ${y - 2}l-5 -9h10z`
  const [middleX, middleY] = [(from[0] + x) / 2, (from[1] + y) / 2]
  return (
    <g className={`edge ${state}`}>
      <path
        className="line"
        d={`M${from[0]} ${from[1]}L${isHorizontal ? x - 9 : x} ${isHorizontal ? y : y - 9}`}
      />
      <path className="head" d={head} />
      {state === 'there' ? null : (
        <path className="cross" d={`M${middleX - 6} ${middleY - 6}l12 12m0 -12l-12 12`} />
      )}
      <text className="edge-text" x={textX} y={isHorizontal ? textY - 11 : textY} textAnchor={anchor}>
        {text}
      </text>
      {notes.map((note, index) => (
        <text
          key={index}
          className="edge-note"
          x={textX}
          y={isHorizontal ? textY + 21 + index * 17 : textY + 17 + index * 17}
          textAnchor={anchor}
        >
          {note}
        </text>
      ))}
    </g>
  )
}
