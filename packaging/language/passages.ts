/**
 * Types of the language check: passages, which are parts of a text, and markers, which are comments that
 * accept a finding.
 */

/** Kinds that rules distinguish. `subject`: a whole commit subject. */
export type PassageKind = 'text' | 'heading' | 'console' | 'test' | 'subject'

export interface Line {
  readonly number: number
  readonly text: string
}

/**
 * A paragraph, list item, table cell, comment, literal or commit subject. Rules see its lines as one text.
 */
export interface Passage {
  readonly kind: PassageKind
  readonly lines: readonly Line[]
}

/** A comment of the form `language: reason`. It accepts the findings in its own line and in the next line. */
export interface Marker {
  readonly line: number
  readonly reason: string
}

/** The parts of a file that the check examines. */
export interface FileText {
  readonly passages: readonly Passage[]
  readonly markers: readonly Marker[]
}

const MARKER = /^(?:\/\/|\/\*\*?|\*|#|--|<!--)?\s*language:(?!\S)\s*(.*?)\s*(?:\*\/|-->)?$/

/** Returns the marker in a line of a comment. Returns null if there is none. */
export function markerOf({ number, text }: Line): Marker | null {
  const reason = MARKER.exec(text.trim())?.[1]
  return reason === undefined ? null : { line: number, reason }
}

/** Combines lines to passages of the kind `text`. */
export class PassageBuilder {
  readonly passages: Passage[] = []
  #lines: Line[] = []

  add(line: Line): void {
    this.#lines.push(line)
  }

  /** Ends the current passage. */
  end(): void {
    if (this.#lines.length > 0) this.passages.push({ kind: 'text', lines: this.#lines })
    this.#lines = []
  }
}

/**
 * Capitalizes the first letter of a text, because rules recognize the beginning of a sentence by its capital
 * letter.
 */
export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
