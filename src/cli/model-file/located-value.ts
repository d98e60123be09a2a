/**
 * A value in a model file, together with its path. If the value does not have the expected form, its methods
 * return empty results. Names can therefore be checked even if the form of the file has errors.
 */
import { isObject } from '#model/json-object.ts'

/** Path of a value: keys of maps and indexes of lists, beginning at the root. */
export type ValuePath = readonly (string | number)[]

export class LocatedValue {
  readonly value: unknown
  readonly location: ValuePath

  constructor(value: unknown, location: ValuePath = []) {
    this.value = value
    this.location = location
  }

  /**
   * Returns the value of a key. If the key does not exist, the result has this path and an undefined value.
   */
  at(key: string): LocatedValue {
    const map = this.#map
    return new LocatedValue(map && Object.hasOwn(map, key) ? map[key] : undefined, [...this.location, key])
  }

  has(key: string): boolean {
    return this.at(key).value !== undefined
  }

  /** Returns the entries of a map. */
  entries(): [key: string, value: LocatedValue][] {
    return Object.entries(this.#map ?? {}).map(([key, value]) => [
      key,
      new LocatedValue(value, [...this.location, key]),
    ])
  }

  /** Returns the elements of a list. */
  items(): LocatedValue[] {
    return Array.isArray(this.value)
      ? this.value.map((item, index) => new LocatedValue(item, [...this.location, index]))
      : []
  }

  /**
   * Returns the name at this location. The location contains either the name as a text, or a map that
   * contains the name under `key`.
   */
  named(key: string): LocatedValue {
    return this.isMap ? this.at(key) : this
  }

  /** Returns the elements of a list, or the value itself if it is not a list. */
  each(): LocatedValue[] {
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
    return isObject(value) ? value : null
  }
}
