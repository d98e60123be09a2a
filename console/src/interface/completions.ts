/**
 * Completes keys. The first request finds keys by their prefix, which is fast for any number of keys. If
 * there are none, further requests search for the text at any position in the key, name or email address.
 * Such a search can examine a million entities. It therefore runs in steps until a match is found, the text
 * changes or the field loses the focus.
 */
import { answerOf, type Operations, type Schemas, service } from './client.ts'

export interface Completion {
  readonly id: string
  /** Text that is shown next to the suggestion. */
  readonly note?: string | undefined
}

/** Returns the completions of a text. */
export type Complete = (text: string, signal: AbortSignal) => Promise<readonly Completion[]>

interface Environment {
  readonly path: { readonly proj_id: string; readonly env_id: string }
}

type FoundKey = Schemas['KeyCompletion']
type Kind = Operations['completeKeys']['parameters']['query']['kind']
type SearchedKind = Operations['searchKeys']['parameters']['query']['kind']

const SHOWN_MAX = 20
/**
 * Number of keys that are requested if the console must filter them by tenant. The prefix search of the
 * service has no such filter.
 */
const SORTED_OUT_OF = 100

export function completeUsers({ path }: Environment): Complete {
  return async (text, signal) => {
    const found = await keysLike({ path }, { kind: 'user', prefix: text }, signal)
    const users = isEnough(found, text) ? found : await keysWith({ path }, { kind: 'user', text }, signal)
    return users.map(({ key, name, email }) => ({ id: key, note: name ?? email ?? undefined }))
  }
}

/** Display name of a user; undefined if the user has no name. */
export function nameOfUser(
  user: Pick<Schemas['User'], 'first_name' | 'last_name' | 'email'>,
): string | undefined {
  return [user.first_name, user.last_name].filter(Boolean).join(' ') || user.email || undefined
}

export function completeTenants({ path }: Environment): Complete {
  return async (text, signal) => {
    const found = await keysLike({ path }, { kind: 'tenant', prefix: text }, signal)
    const tenants = isEnough(found, text) ? found : await keysWith({ path }, { kind: 'tenant', text }, signal)
    return tenants.map(named)
  }
}

export function completeTypes({ path }: Environment): Complete {
  return async (text, signal) => {
    const found = await keysLike({ path }, { kind: 'resource', prefix: text }, signal)
    if (isEnough(found, text)) return found.map(named)
    const params = { path, query: searched(text) }
    const types = await answerOf(service.GET('/v2/schema/{proj_id}/{env_id}/resources', { params, signal }))
    return itemsOf(types).map(named)
  }
}

/**
 * Completes the actions of a type. If the type does not exist, completes the actions of the first types in
 * the list.
 */
export function completeActions({ path }: Environment, type: string): Complete {
  return async (text, signal) => {
    const types = await typesLike({ path }, type, signal)
    const meant = types.some(({ key }) => key === type) ? types.filter(({ key }) => key === type) : types
    const actions = new Set(meant.flatMap(({ actions: its }) => Object.keys(its)))
    const wanted = text.toLowerCase()
    return [...actions]
      .filter(action => action.toLowerCase().includes(wanted))
      .slice(0, SHOWN_MAX)
      .map(id => ({ id }))
  }
}

/** The first types whose key or name contains the text. Built-in types are included. */
export async function typesLike(
  { path }: Environment,
  text: string,
  signal: AbortSignal,
): Promise<readonly Schemas['Resource'][]> {
  const query = { per_page: SORTED_OUT_OF, include_built_in: true, ...(text !== '' && { search: text }) }
  const params = { path, query }
  return itemsOf(await answerOf(service.GET('/v2/schema/{proj_id}/{env_id}/resources', { params, signal })))
}

/** Completes the roles of a type. There are no suggestions if `type` is empty. */
export function completeRoles({ path }: Environment, type: string): Complete {
  return async (text, signal) => {
    if (type === '') return []
    const found = await keysLike({ path }, { kind: 'role', prefix: text, resource: type }, signal)
    if (isEnough(found, text)) return found.map(named)
    const params = { path: { ...path, resource_id: type }, query: { page: 1, per_page: SORTED_OUT_OF } }
    const roles = await answerOf(
      service.GET('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/roles', { params, signal }),
    )
    const wanted = text.toLowerCase()
    return itemsOf(roles)
      .filter(({ key, name }) => `${key} ${name}`.toLowerCase().includes(wanted))
      .map(named)
  }
}

/**
 * Completes the instances of a type. There are no suggestions if `type` is empty. If `tenant` is absent,
 * instances of all tenants are suggested.
 */
export function completeInstances({ path }: Environment, type: string, tenant?: string): Complete {
  return async (text, signal) => {
    if (type === '') return []
    const asked = { kind: 'resource_instance', prefix: text, resource: type } as const
    const found = await keysIn({ path }, asked, tenant, signal)
    const sought = { kind: 'resource_instance', text, resource: type, tenant } as const
    const instances = isEnough(found, text, tenant) ? found : await keysWith({ path }, sought, signal)
    // If the tenant is not fixed, it is shown, because instances of different tenants can have the same key.
    return instances.map(({ key, tenant: its }) =>
      tenant === undefined ? { id: key, note: its ?? undefined } : { id: key },
    )
  }
}

/** Returns the first keys with this prefix in the tenant, or in all tenants if `tenant` is absent. */
export async function keysIn(
  environment: Environment,
  asked: { readonly kind: Kind; readonly prefix: string; readonly resource?: string },
  tenant: string | undefined,
  signal: AbortSignal,
): Promise<readonly FoundKey[]> {
  if (tenant === undefined) return keysLike(environment, asked, signal)
  const found = await keysLike(environment, { ...asked, limit: SORTED_OUT_OF }, signal)
  return found.filter(({ tenant: its }) => its === tenant).slice(0, SHOWN_MAX)
}

/**
 * The first entities that contain the text. One request examines only a limited number of entities, so that
 * it does not block other requests. Requests are repeated until a match is found.
 */
export async function keysWith(
  { path }: Environment,
  sought: {
    readonly kind: SearchedKind
    readonly text: string
    readonly resource?: string
    readonly tenant?: string | undefined
  },
  signal: AbortSignal,
): Promise<readonly FoundKey[]> {
  const { tenant, ...rest } = sought
  const query = { ...rest, limit: SHOWN_MAX, ...(tenant !== undefined && { tenant }) }
  let after: number | null = null
  do {
    const params = { path, query: { ...query, ...(after !== null && { after }) } }
    const step: Schemas['KeySearch'] = await answerOf(
      service.GET('/v2/facts/{proj_id}/{env_id}/key_searches', { params, signal }),
    )
    if (step.data.length > 0) return step.data
    after = step.next
  } while (after !== null)
  return []
}

/**
 * Whether a substring search is not needed: matches were found, or no text is typed and the keys are not
 * filtered by tenant.
 */
export function isEnough(found: readonly FoundKey[], text: string, tenant?: string): boolean {
  return found.length > 0 || (text === '' && tenant === undefined)
}

/** Query parameters of a list for this search text. */
export function searched(text: string) {
  return { page: 1, per_page: SHOWN_MAX, ...(text !== '' && { search: text }) }
}

async function keysLike(
  { path }: Environment,
  asked: {
    readonly kind: Kind
    readonly prefix: string
    readonly resource?: string
    readonly limit?: number
  },
  signal: AbortSignal,
): Promise<readonly FoundKey[]> {
  const params = { path, query: { limit: SHOWN_MAX, ...asked } }
  const { data } = await answerOf(
    service.GET('/v2/facts/{proj_id}/{env_id}/key_completions', { params, signal }),
  )
  return data
}

/** Items of a list response, which is an array or an object with a total. */
export function itemsOf<Item>(page: readonly Item[] | { readonly data: readonly Item[] }): readonly Item[] {
  return 'data' in page ? page.data : page
}

/** The name is shown only if it differs from the key. */
export function named({ key, name }: { readonly key: string; readonly name: string | null }): Completion {
  return { id: key, note: name === null || name.toLowerCase() === key.toLowerCase() ? undefined : name }
}
