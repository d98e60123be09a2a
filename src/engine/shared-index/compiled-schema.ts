/**
 * The compiled schema: what evaluation needs of it, in numbers. The writer compiles it, its bytes are published in
 * the schema region together with the data it belongs to, every reader decodes its own copy.
 *
 * A check handles no roles but *states*. A state is "type T, any of these roles R suffices", a number. At an instance
 * in state s, a direct assignment that meets the state's masks allows; along an in-edge of class c, the question
 * goes on at the subject in a state given by a transition. A *target* is a number: 0 is nowhere, s > 0 is the state
 * s, -i points at `lists[i]` = [n, s1 … sn], several states at once (only beyond the cap on states, see the compiler).
 */

/** What crosses between threads; arrays of numbers and names only. */
export interface SchemaImage {
  readonly types: readonly TypeImage[]
  /** [type id, place, role key], `type id` 0 for tenant roles. */
  readonly roles: readonly (readonly [number, number, string])[]
  readonly states: readonly StateImage[]
  /** [edge class, state, open target, full target, guarded target]. */
  readonly transitions: readonly (readonly [number, number, number, number, number])[]
  readonly lists: readonly number[]
  /** [edge class, source place, derived place, guarded], for walks from the subject to the object. */
  readonly derivations: readonly (readonly [number, number, number, 0 | 1])[]
  readonly relations: readonly RelationImage[]
  readonly tenantBanks: number
}

export interface TypeImage {
  readonly key: string
  readonly id: number
  /** Number of banks in use. */
  readonly banks: number
  readonly actions: readonly ActionImage[]
}

export interface ActionImage {
  readonly key: string
  /** Where the search for a resource role starts. */
  readonly start: number
  /** Places of the roles that allow, with what they extend: resource roles of the type, tenant roles. */
  readonly rolePlaces: readonly number[]
  readonly tenantPlaces: readonly number[]
}

export interface StateImage {
  readonly id: number
  readonly typeId: number
  /** Which closure head on a container of the type is this state's. */
  readonly ordinal: number
  /** Part of the version of its closures; larger whenever the state means something else than before. */
  readonly epoch: number
  /** [bank, mask]… of the roles that suffice. */
  readonly masks: readonly number[]
}

export interface RelationImage {
  readonly objectType: number
  readonly key: string
  readonly edgeClass: number
  readonly subjectType: number
}
