/** What the picture is made of, and where it is. */
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
  /** The title in large letters, for when the whole is small. */
  readonly farTitle: string
  readonly subtitle: string
  readonly rows: readonly PlacedRow[]
  /** What stands above the box: relations with itself; empty: none. */
  readonly loop: string
}

export interface PlacedLink {
  readonly link: Link
  /** Where the part of the picture is that all below is relative to. */
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
