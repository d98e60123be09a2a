/** Layout of a path: horizontal if it fits, otherwise vertical. */
import type { Way } from '../explanation/way.ts'

/** Smallest scale that is used to keep a path horizontal. */
const SCALE_MIN = 0.85
export const NODE_HEIGHT = 62
const ROLE_HEIGHT = 26
const NODE_WIDTH_MIN = 104
const NODE_WIDTH_MAX = 212
/** Horizontal padding of a node, including its icon. */
const NODE_INSET = 50
const LEG_LENGTH_MIN = 84
const LEG_LENGTH_MAX = 210
/** Distance between the text of an edge and the nodes. */
const LEG_INSET = 26
const LEG_HEIGHT = 70
const MARGIN = 4
/** Space for the text lines above and below a horizontal edge. */
const LYING_TOP = 18

export const FONTS = {
  name: '600 14px system-ui, sans-serif',
  kind: '12px system-ui, sans-serif',
  leg: '550 12.5px system-ui, sans-serif',
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

export interface PlacedLeg {
  readonly from: readonly [x: number, y: number]
  readonly to: readonly [x: number, y: number]
  /** Position of the texts: next to a vertical edge, above and below a horizontal one. */
  readonly textAt: readonly [x: number, y: number]
  readonly text: string
  readonly notes: readonly string[]
}

export interface Layout {
  readonly isLying: boolean
  readonly width: number
  readonly height: number
  /** Scale of the drawing; 1 for full size. */
  readonly scale: number
  readonly nodes: readonly PlacedNode[]
  readonly legs: readonly PlacedLeg[]
}

/** `notes`: lines of text below each edge. `available`: available width in pixels. */
export function layOut(way: Way, notes: readonly (readonly string[])[], available: number): Layout {
  const nodeWidths = way.stops.map(({ key, kindText, role }) =>
    between(
      NODE_WIDTH_MIN,
      Math.max(widthOf(key, 'name'), widthOf(kindText, 'kind'), role ? widthOf(role, 'note') - 10 : 0) +
        NODE_INSET,
      NODE_WIDTH_MAX,
    ),
  )
  const legLengths = way.legs.map(({ text }, index) =>
    between(
      LEG_LENGTH_MIN,
      Math.max(widthOf(text, 'leg'), ...notes[index]!.map(note => widthOf(note, 'note'))) + LEG_INSET,
      LEG_LENGTH_MAX,
    ),
  )
  const lyingWidth = sum(nodeWidths) + sum(legLengths) + 2 * MARGIN
  return lyingWidth * SCALE_MIN <= available
    ? { ...lying(way, notes, nodeWidths, legLengths), scale: Math.min(1, available / lyingWidth) }
    : hanging(way, notes, Math.max(available, NODE_WIDTH_MIN * 2))
}

function lying(
  { stops, legs }: Way,
  notes: readonly (readonly string[])[],
  nodeWidths: readonly number[],
  legLengths: readonly number[],
): Omit<Layout, 'scale'> {
  let x = MARGIN
  const top = MARGIN + LYING_TOP
  const middle = top + NODE_HEIGHT / 2
  const nodes: PlacedNode[] = []
  const placed: PlacedLeg[] = []
  for (const [index, stop] of stops.entries()) {
    const width = nodeWidths[index]!
    nodes.push({ x, y: top, width, ...nodeTexts(stop, width) })
    x += width
    const leg = legs[index]
    if (leg === undefined) continue
    const length = legLengths[index]!
    placed.push({
      from: [x, middle],
      to: [x + length, middle],
      textAt: [x + length / 2, middle],
      text: fitted(leg.text, length - LEG_INSET + 2, 'leg'),
      notes: notes[index]!.map(note => fitted(note, length - LEG_INSET + 2, 'note')),
    })
    x += length
  }
  const noteLines = Math.max(0, ...notes.map(({ length }) => length))
  const height = Math.max(
    top + Math.max(...nodes.map(node => node.height)) + MARGIN,
    middle + 12 + noteLines * 17,
  )
  return { isLying: true, width: x + MARGIN, height, nodes, legs: placed }
}

function hanging({ stops, legs }: Way, notes: readonly (readonly string[])[], available: number): Layout {
  const width = Math.min(available, 340)
  let y = MARGIN
  const nodes: PlacedNode[] = []
  const placed: PlacedLeg[] = []
  const nodeWidth = width - 2 * MARGIN
  const x = MARGIN + 34
  for (const [index, stop] of stops.entries()) {
    const node = { x: MARGIN, y, width: nodeWidth, ...nodeTexts(stop, nodeWidth) }
    nodes.push(node)
    y += node.height
    const leg = legs[index]
    if (leg === undefined) continue
    const length = LEG_HEIGHT + Math.max(0, notes[index]!.length - 1) * 17
    placed.push({
      from: [x, y],
      to: [x, y + length],
      textAt: [x + 18, y + length / 2 - (notes[index]!.length * 17) / 2 + 4],
      text: fitted(leg.text, nodeWidth - 60, 'leg'),
      notes: notes[index]!.map(note => fitted(note, nodeWidth - 60, 'note')),
    })
    y += length
  }
  return { isLying: false, scale: 1, width, height: y + MARGIN, nodes, legs: placed }
}

function nodeTexts({ key, kindText, role }: Way['stops'][number], width: number) {
  return {
    height: NODE_HEIGHT + (role === undefined ? 0 : ROLE_HEIGHT),
    name: fitted(key, width - NODE_INSET + 4, 'name'),
    kind: fitted(kindText, width - NODE_INSET + 4, 'kind'),
    role: role === undefined ? null : fitted(role, width - 28, 'note'),
  }
}

const canvas = document.createElement('canvas').getContext('2d')

function widthOf(text: string, font: Font): number {
  // Limits the work for very long keys: more characters never fit.
  const shown = text.slice(0, 60)
  if (canvas === null) return shown.length * 8
  canvas.font = FONTS[font]
  return Math.ceil(canvas.measureText(shown).width)
}

/** Truncates a text in the middle, because keys often differ at their ends. */
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
