/** Layout of a path. It is horizontal if it fits into the available width, otherwise vertical. */
import type { Path } from '../explanation/path.ts'

/** Minimum scale of a horizontal drawing. If the path needs a smaller scale, it is drawn vertically. */
const SCALE_MIN = 0.85
export const NODE_HEIGHT = 62
const ROLE_HEIGHT = 26
const NODE_WIDTH_MIN = 104
const NODE_WIDTH_MAX = 212
/** Horizontal padding of a node, including its icon. */
const NODE_INSET = 50
const EDGE_LENGTH_MIN = 84
const EDGE_LENGTH_MAX = 210
/** Distance between the text of an edge and the nodes. */
const EDGE_INSET = 26
const EDGE_HEIGHT = 70
const MARGIN = 4
/** Space for the text lines above and below a horizontal edge. */
const HORIZONTAL_TOP = 18

export const FONTS = {
  name: '600 14px system-ui, sans-serif',
  kind: '12px system-ui, sans-serif',
  edge: '550 12.5px system-ui, sans-serif',
  note: '12px system-ui, sans-serif',
} as const
type Font = keyof typeof FONTS

export interface PlacedNode {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly name: string
  readonly kind: string
  readonly role: string | null
}

export interface PlacedEdge {
  readonly from: readonly [x: number, y: number]
  readonly to: readonly [x: number, y: number]
  /** Position of the texts. They are next to a vertical edge, or above and below a horizontal one. */
  readonly textAt: readonly [x: number, y: number]
  readonly text: string
  readonly notes: readonly string[]
}

export interface Layout {
  readonly isHorizontal: boolean
  readonly width: number
  readonly height: number
  /** Scale of the drawing. 1 is the full size. */
  readonly scale: number
  readonly nodes: readonly PlacedNode[]
  readonly edges: readonly PlacedEdge[]
}

/** `notes` are the lines of text below each edge. `available` is the available width in pixels. */
export function layOut(path: Path, notes: readonly (readonly string[])[], available: number): Layout {
  const nodeWidths = path.nodes.map(({ key, kindText, role }) =>
    between(
      NODE_WIDTH_MIN,
      Math.max(widthOf(key, 'name'), widthOf(kindText, 'kind'), role ? widthOf(role, 'note') - 10 : 0) +
        NODE_INSET,
      NODE_WIDTH_MAX,
    ),
  )
  const edgeLengths = path.edges.map(({ text }, index) =>
    between(
      EDGE_LENGTH_MIN,
      Math.max(widthOf(text, 'edge'), ...notes[index]!.map(note => widthOf(note, 'note'))) + EDGE_INSET,
      EDGE_LENGTH_MAX,
    ),
  )
  const horizontalWidth = sum(nodeWidths) + sum(edgeLengths) + 2 * MARGIN
  return horizontalWidth * SCALE_MIN <= available
    ? { ...horizontal(path, notes, nodeWidths, edgeLengths), scale: Math.min(1, available / horizontalWidth) }
    : vertical(path, notes, Math.max(available, NODE_WIDTH_MIN * 2))
}

function horizontal(
  { nodes, edges }: Path,
  notes: readonly (readonly string[])[],
  nodeWidths: readonly number[],
  edgeLengths: readonly number[],
): Omit<Layout, 'scale'> {
  let x = MARGIN
  const top = MARGIN + HORIZONTAL_TOP
  const middle = top + NODE_HEIGHT / 2
  const placedNodes: PlacedNode[] = []
  const placedEdges: PlacedEdge[] = []
  for (const [index, node] of nodes.entries()) {
    const width = nodeWidths[index]!
    placedNodes.push({ x, y: top, width, ...nodeTexts(node, width) })
    x += width
    const edge = edges[index]
    if (edge === undefined) continue
    const length = edgeLengths[index]!
    placedEdges.push({
      from: [x, middle],
      to: [x + length, middle],
      textAt: [x + length / 2, middle],
      text: fitted(edge.text, length - EDGE_INSET + 2, 'edge'),
      notes: notes[index]!.map(note => fitted(note, length - EDGE_INSET + 2, 'note')),
    })
    x += length
  }
  const noteLines = Math.max(0, ...notes.map(({ length }) => length))
  const height = Math.max(
    top + Math.max(...placedNodes.map(node => node.height)) + MARGIN,
    middle + 12 + noteLines * 17,
  )
  return { isHorizontal: true, width: x + MARGIN, height, nodes: placedNodes, edges: placedEdges }
}

function vertical({ nodes, edges }: Path, notes: readonly (readonly string[])[], available: number): Layout {
  const width = Math.min(available, 340)
  let y = MARGIN
  const placedNodes: PlacedNode[] = []
  const placedEdges: PlacedEdge[] = []
  const nodeWidth = width - 2 * MARGIN
  const x = MARGIN + 34
  for (const [index, node] of nodes.entries()) {
    const box = { x: MARGIN, y, width: nodeWidth, ...nodeTexts(node, nodeWidth) }
    placedNodes.push(box)
    y += box.height
    const edge = edges[index]
    if (edge === undefined) continue
    const length = EDGE_HEIGHT + Math.max(0, notes[index]!.length - 1) * 17
    placedEdges.push({
      from: [x, y],
      to: [x, y + length],
      textAt: [x + 18, y + length / 2 - (notes[index]!.length * 17) / 2 + 4],
      text: fitted(edge.text, nodeWidth - 60, 'edge'),
      notes: notes[index]!.map(note => fitted(note, nodeWidth - 60, 'note')),
    })
    y += length
  }
  return { isHorizontal: false, scale: 1, width, height: y + MARGIN, nodes: placedNodes, edges: placedEdges }
}

function nodeTexts({ key, kindText, role }: Path['nodes'][number], width: number) {
  return {
    height: NODE_HEIGHT + (role === undefined ? 0 : ROLE_HEIGHT),
    name: fitted(key, width - NODE_INSET + 4, 'name'),
    kind: fitted(kindText, width - NODE_INSET + 4, 'kind'),
    role: role === undefined ? null : fitted(role, width - 28, 'note'),
  }
}

const canvas = document.createElement('canvas').getContext('2d')

function widthOf(text: string, font: Font): number {
  // Only the first characters are measured, to limit the work for very long keys. More characters never fit.
  const shown = text.slice(0, 60)
  if (canvas === null) return shown.length * 8
  canvas.font = FONTS[font]
  return Math.ceil(canvas.measureText(shown).width)
}

/** Truncates a text in its middle, because keys often differ at their ends. */
function fitted(text: string, width: number, font: Font): string {
  if (widthOf(text, font) <= width && text.length <= 60) return text
  let kept = Math.min(text.length - 1, 60)
  while (kept > 4) {
    const half = Math.ceil(kept / 2)
    const short = `${text.slice(0, half)}…${text.slice(text.length - (kept - half))}`
    if (widthOf(short, font) <= width) return short
    kept -= 1
  }
  return `${text.slice(0, 4)}…`
}

function between(least: number, value: number, most: number): number {
  return Math.min(Math.max(least, value), most)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
