/**
 * A value in a model file with its path. If the value does not have the expected form, it reads as empty. So
 * names can be checked even if the form of the file has errors.
 */

/** Keys of maps and indexes of lists, outermost first. */
export type Way = readonly (string | number)[]

export class Place {
  readonly value: unknown
  readonly way: Way

  constructor(value: unknown, way: Way = []) {
    this.value = value
    this.way = way
  }

  /** Value of a key. If the key does not exist, a place with an undefined value. */
  at(key: string): Place {
    const map = this.#map
    return new Place(map && Object.hasOwn(map, key) ? map[key] : undefined, [...this.way, key])
  }

  has(key: string): boolean {
    return this.at(key).value !== undefined
  }

  /** Entries of a map. */
  entries(): [key: string, value: Place][] {
    return Object.entries(this.#map ?? {}).map(([key, value]) => [key, new Place(value, [...this.way, key])])
  }

  /** Elements of a list. */
  items(): Place[] {
    return Array.isArray(this.value)
      ? this.value.map((item, index) => new Place(item, [...this.way, index]))
      : []
  }

  /** Name at this location: either a plain text, or a map that contains the name under the key. */
  named(key: string): Place {
    return this.isMap ? this.at(key) : this
  }

  /** Elements of a list, or the value itself if it is not a list. */
  each(): Place[] {
    return Array.isArray(this.value) ? this.items() : [this]
  }

  /** Null if the value is not a text. */
  get text(): string | null {
    return typeof this.value === 'string' ? this.value : null
  }

  get isMap(): boolean {
    return this.#map !== null
  }

  /** Whether the value is a map or absent. */
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
