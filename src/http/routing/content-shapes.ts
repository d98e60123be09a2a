/** Validators for the lines of an import, one for each kind of content. */
import { CONTENT_LINES, type ContentKind } from '#entities/environment-content.ts'
import { Shape } from './shape.ts'

export class ContentShapes {
  readonly #shapes = new Map<string, Shape>(
    Object.entries(CONTENT_LINES).map(([kind, schema]) => [kind, new Shape(schema, 'body')]),
  )

  readonly isKind = (kind: unknown): kind is ContentKind => this.#shapes.has(kind as string)

  /** Throws `INVALID_SHAPE` if the line is not valid. */
  readonly check = (kind: ContentKind, line: unknown): void => this.#shapes.get(kind)!.check(line)
}
