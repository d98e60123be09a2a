/**
 * Bulk calls (native.md B.8 to B.11, D-26): all or nothing, in one commit. Every element is tried. The
 * response then has the error with the highest precedence of all (native.md D-38), with the index of the
 * first element that causes it.
 */
import { AuthzError } from '#model/errors.ts'
import { FirstErrorByPrecedence } from './error-precedence.ts'
import type { Resumable } from '#scheduling/resumable.ts'

const ELEMENTS_PER_STOP = 16

/** Location of an element in the request: `body`, the name of the list if it has one, the index. */
export type ElementPlace = readonly (string | number)[]

/**
 * Runs `each` for all elements. Then throws the error with the highest precedence, with the location of its
 * element.
 */
export function* forEachElement<Element>(
  elements: readonly Element[],
  place: readonly string[],
  each: (element: Element, place: ElementPlace) => void,
): Resumable<void> {
  const winner = new FirstErrorByPrecedence<ElementPlace>()
  for (const [index, element] of elements.entries()) {
    if (index % ELEMENTS_PER_STOP === 0) yield
    const elementPlace = [...place, index]
    winner.attempt(elementPlace, () => each(element, elementPlace))
  }
  if (winner.found) throw inElement(winner.found.error, winner.found.place)
}

/** The same error, with the location of its element. */
function inElement(error: AuthzError, place: ElementPlace): AuthzError {
  const index = place.at(-1)
  const name = place.length > 2 ? `${place.slice(1, -1).join('.')}[${index}]` : `[${index}]`
  const detail =
    error.detail.length > 0
      ? error.detail
      : [{ loc: place, msg: error.message, type: error.code.toLowerCase() }]
  const limit = error.limit === null ? {} : { limit: error.limit }
  return new AuthzError(error.code, `${name}: ${error.message}`, { cause: error, detail, ...limit })
}
