/**
 * A value in a model file and the way to it. What is not of the form it should be reads as empty, so that names can be checked in a
 * file whose form is wrong elsewhere.
 */

/** Keys of maps and indexes of lists, from the outermost in. */
export type Way = readonly (string | number)[]

export class Place {
  readonly value: unknown
  readonly way: Way

  constructor(value: unknown, way: Way = []) {
    this.value = value
    this.way = way
  }

  /** What stands under a key; the place of nothing where there is no such key. */
  at(key: string): Place {
    const map = this.#map
    return new Place(map && Object.hasOwn(map, key) ? map[key] : undefined, [...this.way, key])
  }

  has(key: string): boolean {
    return this.at(key).value !== undefined
  }

  /** The entries of a map. */
  entries(): [key: string, value: Place][] {
    return Object.entries(this.#map ?? {}).map(([key, value]) => [key, new Place(value, [...this.way, key])])
  }

  /** The elements of a list. */
  items(): Place[] {
    return Array.isArray(this.value)
      ? this.value.map((item, index) => new Place(item, [...this.way, index]))
      : []
  }

  /** What is named here: a text alone, or a map with the name under the key. */
  named(key: string): Place {
    return this.isMap ? this.at(key) : this
  }

  /** The elements of a list, or the value alone where it is none. */
  each(): Place[] {
    return Array.isArray(this.value) ? this.items() : [this]
  }

  /** `null`: it is no text. */
  get text(): string | null {
    return typeof this.value === 'string' ? this.value : null
  }

  get isMap(): boolean {
    return this.#map !== null
  }

  /** Whether it is a map, or was left empty. */
  get isMapOrEmpty(): boolean {
    return this.isMap || this.value === undefined || this.value === null
  }

  get #map(): Readonly<Record<string, unknown>> | null {
    const { value } = this
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null
  }
}
