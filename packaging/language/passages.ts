/** Types of the language check: passages of text, and comments that accept a finding. */

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

/** A comment `language: reason`. It accepts the findings in the same line and in the next line. */
export interface Marker {
  readonly line: number
  readonly reason: string
}

/** Content of a file that the check reads. */
export interface FileText {
  readonly passages: readonly Passage[]
  readonly markers: readonly Marker[]
}

const MARKER = /^(?:\/\/|\/\*\*?|\*|#|--|<!--)?\s*language:(?!\S)\s*(.*?)\s*(?:\*\/|-->)?$/

/** The marker in one line of a comment, if there is one. */
export function markerOf({ number, text }: Line): Marker | null {
  const reason = MARKER.exec(text.trim())?.[1]
  return reason === undefined ? null : { line: number, reason }
}

/** Groups lines to passages of the kind `text`. */
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

/** Rules recognize the beginning of a sentence by its capital letter. */
export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
