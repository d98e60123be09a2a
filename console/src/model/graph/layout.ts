/**
 * Computes the positions of boxes and lines in the graph. Connected components are laid out separately and
 * then packed next to each other. Otherwise a model with many small components would become one long column.
 * This file is loaded together with the graph, because the layout library is larger than the rest of the
 * page.
 */
import { Graph, layout as place } from '@dagrejs/dagre'
import type { Box, GraphModel, Link } from './graph-model.ts'
import { clipped, type Lettering, widthOf } from './lettering.ts'
import { derivedPath, LABEL_LINE, linkPath } from './link-path.ts'
import type { LaidOut, PlacedBox, PlacedLink, Point } from './placed.ts'

const HEAD = 46
const ROW = 24
const FOOT = 8
const LOOP = 24
const PADDING = 12
const BOX_WIDTH = { min: 112, max: 300 } as const
const GAP = { detailed: { boxes: 22, ranks: 24 }, closed: { boxes: 12, ranks: 16 }, parts: 36 } as const
/** Part of the horizontal padding of a box that its title can use when it is shown in large letters. */
const FAR_OVERHANG = 12
/** Number of total widths that are tried when components are packed. */
const PACKINGS = 16
const LABEL_LINES_MAX = 3
const LABEL_LETTERS = 170

export interface Words {
  readonly counts: (box: Box) => string
  readonly extends: (roles: string) => string
}

interface Part {
  readonly boxes: readonly PlacedBox[]
  readonly links: readonly PlacedLink[]
  readonly width: number
  readonly height: number
}

/**
 * If `isDetailed`, boxes have one row per role. `aspect` is the ratio of available width and height.
 */
export function layout(
  { boxes, links }: GraphModel,
  {
    isDetailed,
    aspect,
    words,
  }: { readonly isDetailed: boolean; readonly aspect: number; readonly words: Words },
): LaidOut {
  const drawn = boxes.map(box => drawnBox(box, isDetailed, words))
  const parts = partsOf(drawn, links)
  const alone = parts.filter(part => part.boxes.length === 1).flatMap(part => part.boxes)
  return packed(
    [
      ...parts.filter(part => part.boxes.length > 1).map(part => layered(part.boxes, part.links, isDetailed)),
      ...(alone.length === 0 ? [] : [gridOf(alone, isDetailed)]),
    ],
    aspect,
  )
}

function drawnBox(box: Box, isDetailed: boolean, words: Words): PlacedBox {
  const counts = words.counts(box)
  const subtitle = box.name === box.key || !isDetailed ? counts : box.key
  const rows = isDetailed
    ? box.rows.map(({ role, extends: parents, derivedFrom }, index) => ({
        role,
        text: clipped(role, 'row', 150),
        note: clipped(
          [
            ...(parents.length > 0 ? [words.extends(parents.join(', '))] : []),
            ...(derivedFrom.length > 0 ? [`↻ ${derivedFrom.join(', ')}`] : []),
          ].join(' · '),
          'note',
          150,
        ),
        y: HEAD + index * ROW,
      }))
    : []
  const loop = box.loops.length === 0 ? '' : `↻ ${box.loops.join(', ')}`
  const wanted = Math.max(
    widthOf(box.name, isDetailed ? 'title' : 'far') - (isDetailed ? 0 : FAR_OVERHANG),
    widthOf(subtitle, 'note'),
    ...rows.map(({ text, note }) => widthOf(text, 'row') + (note === '' ? 0 : widthOf(note, 'note') + 14)),
  )
  const width = Math.min(BOX_WIDTH.max, Math.max(BOX_WIDTH.min, Math.ceil(wanted) + 2 * PADDING))
  const inner = width - 2 * PADDING
  return {
    key: box.key,
    x: 0,
    y: 0,
    width,
    height: HEAD + rows.length * ROW + (rows.length > 0 ? FOOT : 4),
    title: clipped(box.name, 'title', inner),
    farTitle: clipped(box.name, 'far', inner + FAR_OVERHANG),
    subtitle: clipped(subtitle, 'note', inner),
    rows,
    loop: clipped(loop, 'label', inner),
  }
}

/** Height above a box that the label of its self-relations needs. */
function loopRoom({ loop }: PlacedBox): number {
  return loop === '' ? 0 : LOOP
}

function partsOf(
  boxes: readonly PlacedBox[],
  links: readonly Link[],
): { boxes: PlacedBox[]; links: Link[] }[] {
  const joined = new Map(boxes.map(({ key }) => [key, key]))
  const rootOf = (key: string): string => {
    let root = key
    while (joined.get(root) !== root) root = joined.get(root)!
    joined.set(key, root)
    return root
  }
  for (const { from, to } of links) joined.set(rootOf(from), rootOf(to))
  const parts = new Map<string, { boxes: PlacedBox[]; links: Link[] }>()
  const partOf = (key: string): { boxes: PlacedBox[]; links: Link[] } => {
    const root = rootOf(key)
    const part = parts.get(root) ?? { boxes: [], links: [] }
    parts.set(root, part)
    return part
  }
  for (const box of boxes) partOf(box.key).boxes.push(box)
  for (const link of links) partOf(link.from).links.push(link)
  return [...parts.values()]
}

/** Grid of the types that have no relations. */
function gridOf(boxes: readonly PlacedBox[], isDetailed: boolean): Part {
  const gap = isDetailed ? GAP.detailed.boxes : GAP.closed.boxes
  const columns = Math.ceil(Math.sqrt(boxes.length / 2))
  const wide = Math.max(...boxes.map(({ width }) => width)) + gap
  const placed: PlacedBox[] = []
  let [y, rowHeight] = [0, 0]
  for (const [index, box] of boxes.entries()) {
    if (index % columns === 0) [y, rowHeight] = [index === 0 ? 0 : y + rowHeight + gap, 0]
    const room = loopRoom(box)
    placed.push({ ...box, x: (index % columns) * wide, y: y + room })
    rowHeight = Math.max(rowHeight, box.height + room)
  }
  return {
    boxes: placed,
    links: [],
    width: Math.min(columns, boxes.length) * wide - gap,
    height: y + rowHeight,
  }
}

function layered(boxes: readonly PlacedBox[], links: readonly Link[], isDetailed: boolean): Part {
  const graph = new Graph({ multigraph: true })
  const gap = isDetailed ? GAP.detailed : GAP.closed
  graph.setGraph({
    rankdir: 'LR',
    nodesep: gap.boxes,
    edgesep: 10,
    ranksep: gap.ranks,
    ranker: 'network-simplex',
  })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const box of boxes) graph.setNode(box.key, { width: box.width, height: box.height + loopRoom(box) })
  const labels = new Map(links.map(link => [link.id, labelOf(link)]))
  for (const { id, from, to } of links) graph.setEdge(from, to, { ...labels.get(id)!, labelpos: 'c' }, id)
  place(graph)
  const placed = boxes.map(box => {
    const { x = 0, y = 0, height } = graph.node(box.key) as Point & { height: number }
    return { ...box, x: x - box.width / 2, y: y - height / 2 + loopRoom(box) }
  })
  const at = new Map(placed.map(box => [box.key, box]))
  const columns = columnsOf(placed)
  const placedLinks = links.map((link): PlacedLink => {
    const { points, x, y } = graph.edge(link.from, link.to, link.id) as unknown as { points: Point[] } & Point
    const ends = { from: at.get(link.from)!, to: at.get(link.to)! }
    const label = labels.get(link.id)!
    return {
      link,
      offset: { x: 0, y: 0 },
      path: linkPath(ends, points, columns),
      derived: derivedPath(link, ends, points, columns, isDetailed),
      label: { ...label, x: x - label.width / 2, y: y - label.height / 2 },
    }
  })
  const size = graph.graph() as { width: number; height: number }
  return { boxes: placed, links: placedLinks, width: size.width, height: size.height }
}

/**
 * Half of the width of each column of boxes, by the x coordinate of its center. Lines run straight past the
 * boxes of a column.
 */
function columnsOf(boxes: readonly PlacedBox[]): ReadonlyMap<number, number> {
  const columns = new Map<number, number>()
  for (const { x, width } of boxes) {
    const middle = Math.round(x + width / 2)
    columns.set(middle, Math.max(columns.get(middle) ?? 0, width / 2))
  }
  return columns
}

function labelOf({ relations }: Link) {
  const shown = relations.length > LABEL_LINES_MAX ? relations.slice(0, LABEL_LINES_MAX - 1) : relations
  const lines = shown.map(key => clipped(key, 'label' satisfies Lettering, LABEL_LETTERS))
  if (shown.length < relations.length) lines.push(`+ ${relations.length - shown.length}`)
  return {
    lines,
    width: Math.ceil(Math.max(...lines.map(line => widthOf(line, 'label')))) + 14,
    height: lines.length * LABEL_LINE + 6,
  }
}

/** Packs the components. Tries several widths and uses the width that allows the largest scale. */
function packed(parts: readonly Part[], aspect: number): LaidOut {
  const ordered = parts.toSorted((one, other) => other.height - one.height)
  const widest = Math.max(0, ...parts.map(({ width }) => width))
  const whole = parts.reduce((sum, { width }) => sum + width + GAP.parts, 0)
  let best: LaidOut | null = null
  for (let step = 0; step <= PACKINGS; step += 1) {
    const tried = packedWithin(ordered, widest * (whole / widest) ** (step / PACKINGS))
    const size = ({ width, height }: LaidOut): number => Math.max(width / aspect, height)
    if (best === null || size(tried) < size(best)) best = tried
  }
  return best!
}

/**
 * Part of the skyline of the packing. The skyline states the occupied height at each position from left to
 * right.
 */
interface Edge {
  readonly from: number
  readonly to: number
  readonly y: number
}

/** Packs the components within a width. Each component is placed as high as possible. */
function packedWithin(parts: readonly Part[], wide: number): LaidOut {
  const boxes: PlacedBox[] = []
  const links: PlacedLink[] = []
  let edges: readonly Edge[] = [{ from: 0, to: Number.POSITIVE_INFINITY, y: 0 }]
  let [width, height] = [0, 0]
  for (const part of parts) {
    const lowest = (from: number, to: number): number =>
      Math.max(...edges.filter(edge => edge.from < to && edge.to > from).map(({ y }) => y))
    const places = edges
      .filter(({ from }) => from === 0 || from + part.width <= wide + 1)
      .map(({ from }) => ({ x: from, y: lowest(from, from + part.width + GAP.parts) }))
    const { x, y } = places.reduce((best, each) => (each.y < best.y ? each : best))
    const to = x + part.width + GAP.parts
    edges = [
      ...edges.filter(({ from }) => from < x).map(edge => ({ ...edge, to: Math.min(edge.to, x) })),
      { from: x, to, y: y + part.height + GAP.parts },
      ...edges.filter(edge => edge.to > to).map(edge => ({ ...edge, from: Math.max(edge.from, to) })),
    ]
    for (const box of part.boxes) boxes.push({ ...box, x: box.x + x, y: box.y + y })
    for (const each of part.links) links.push({ ...each, offset: { x, y } })
    width = Math.max(width, x + part.width)
    height = Math.max(height, y + part.height)
  }
  return { boxes, links, width, height }
}
