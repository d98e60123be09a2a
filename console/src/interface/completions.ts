/**
 * What can be chosen while one types a key. Asked for first are the keys that begin with what is typed: that is quick, however many there
 * are. Where there is none, it is searched for what has it as a part, in a name or an e-mail address, too. There may be a million things to
 * look at, so that goes in steps, until something is found, somebody types on or leaves the field.
 */
import { answerOf, type Operations, type Schemas, service } from './client.ts'

export interface Completion {
  readonly id: string
  /** What is said beside it. */
  readonly note?: string | undefined
}

/** What completes a text. */
export type Complete = (text: string, signal: AbortSignal) => Promise<readonly Completion[]>

interface Environment {
  readonly path: { readonly proj_id: string; readonly env_id: string }
}

type FoundKey = Schemas['KeyCompletion']
type Kind = Operations['completeKeys']['parameters']['query']['kind']
type SearchedKind = Operations['searchKeys']['parameters']['query']['kind']

const SHOWN_MAX = 20
/** Keys that are asked for where only those of a tenant are wanted, which the service does not sort out. */
const SORTED_OUT_OF = 100

export function completeUsers({ path }: Environment): Complete {
  return async (text, signal) => {
    const found = await keysLike({ path }, { kind: 'user', prefix: text }, signal)
    const users = isEnough(found, text) ? found : await keysWith({ path }, { kind: 'user', text }, signal)
    return users.map(({ key, name, email }) => ({ id: key, note: name ?? email ?? undefined }))
  }
}

/** What a user is called by people; undefined: nobody said. */
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

/** Actions of the type; of the first types where there is none of that name. */
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

/** The first types that have the text as a part, built-in ones, too. */
export async function typesLike(
  { path }: Environment,
  text: string,
  signal: AbortSignal,
): Promise<readonly Schemas['Resource'][]> {
  const query = { per_page: SORTED_OUT_OF, include_built_in: true, ...(text !== '' && { search: text }) }
  const params = { path, query }
  return itemsOf(await answerOf(service.GET('/v2/schema/{proj_id}/{env_id}/resources', { params, signal })))
}

/** Roles on a type; `type` empty: none. */
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

/** Instances of a type; `type` empty: none; `tenant` absent: of all tenants. */
export function completeInstances({ path }: Environment, type: string, tenant?: string): Complete {
  return async (text, signal) => {
    if (type === '') return []
    const asked = { kind: 'resource_instance', prefix: text, resource: type } as const
    const found = await keysIn({ path }, asked, tenant, signal)
    const sought = { kind: 'resource_instance', text, resource: type, tenant } as const
    const instances = isEnough(found, text, tenant) ? found : await keysWith({ path }, sought, signal)
    // Beyond a tenant the tenant says which is meant.
    return instances.map(({ key, tenant: its }) =>
      tenant === undefined ? { id: key, note: its ?? undefined } : { id: key },
    )
  }
}

/** The first keys that begin so in that tenant; `tenant` absent: in all. */
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
 * The first that have the text as a part. One request looks at a bounded number of things, so that others have their turn; the next one is
 * made while nothing is found.
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

/** Whether it need not be searched: where nothing is typed, and no tenant has to be looked through, there is no more to find. */
export function isEnough(found: readonly FoundKey[], text: string, tenant?: string): boolean {
  return found.length > 0 || (text === '' && tenant === undefined)
}

/** What a list is asked for. */
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

/** A list that is bare, or with how many there are. */
export function itemsOf<Item>(page: readonly Item[] | { readonly data: readonly Item[] }): readonly Item[] {
  return 'data' in page ? page.data : page
}

/** The name is said where it says more than the key. */
export function named({ key, name }: { readonly key: string; readonly name: string | null }): Completion {
  return { id: key, note: name === null || name.toLowerCase() === key.toLowerCase() ? undefined : name }
}
