/** Types of the elements of the graph with their positions. */
import type { Link } from './graph-model.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

interface PlacedRow {
  readonly role: string
  readonly text: string
  readonly note: string
  readonly y: number
}

export interface PlacedBox {
  readonly key: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly title: string
  /** Title in large letters. It is shown at a small scale. */
  readonly farTitle: string
  readonly subtitle: string
  readonly rows: readonly PlacedRow[]
  /** Label above the box. It lists the relations from the type to itself, and is empty if there are none. */
  readonly loop: string
}

export interface PlacedLink {
  readonly link: Link
  /** Position of the connected component. All other coordinates are relative to it. */
  readonly offset: Point
  readonly path: string
  readonly derived: readonly string[]
  readonly label: {
    readonly lines: readonly string[]
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }
}

export interface LaidOut {
  readonly boxes: readonly PlacedBox[]
  readonly links: readonly PlacedLink[]
  readonly width: number
  readonly height: number
}
