/** Searches for users and resources by their effective permissions. Results are loaded page by page. */
import { answerOf, type Schemas, service } from '../interface/client.ts'
import type { CurrentEnvironment } from '../shell/current-environment.tsx'
import type { CursorPage } from './cursor-pages.ts'

/**
 * Search for instances on which a user can perform an action. If `type` is empty, all types are searched one
 * after the other. If `tenant` is empty, each instance is checked in the tenant in which it is stored.
 */
export interface ResourcesAsked {
  readonly user: string
  readonly action: string
  readonly type: string
  readonly tenant: string
}

/** Search for users who can perform an action on an instance. */
export interface HoldersAsked {
  readonly type: string
  readonly instance: string
  readonly action: string
}

export interface Instance {
  readonly type: string
  readonly id: string
}

/**
 * Position in the list. It consists of the index of a type among all types and of a page token for the
 * instances of this type.
 */
interface ResourceCursor {
  readonly type: number
  readonly token: string
}

export const FIRST_RESOURCE: ResourceCursor = { type: 0, token: '' }

/** Subjects of the searches are users. */
const SUBJECT = 'user'
/** Maximum number of searches for one page. After that, the page is shown even if it is not full. */
const SEARCHES_MAX = 8
export const TYPES_A_PAGE = 100
/** Page size of exports. It can be larger than other page sizes, because these pages are not displayed. */
export const EXPORT_PAGE_SIZE = 1000

/** Loads one page of the types in the environment. The first page is 1. */
export type LoadTypes = (page: number) => Promise<readonly Schemas['Resource'][]>

interface Search {
  /** Environment of the page; its header selects the environment of a member. */
  readonly environment: Pick<CurrentEnvironment, 'header'>
  readonly limit: number
  readonly signal: AbortSignal
}

export async function pageOfResources(
  asked: ResourcesAsked,
  from: ResourceCursor,
  { loadTypes, ...search }: Search & { readonly loadTypes: LoadTypes },
): Promise<CursorPage<Instance, ResourceCursor>> {
  const types = asked.type === '' ? new TypesWithAction(asked.action, loadTypes) : new OneType(asked.type)
  const items: Instance[] = []
  let total: number | null = null
  let place = await types.seek(from)
  for (
    let searches = 0;
    place !== null && items.length < search.limit && searches < SEARCHES_MAX;
    searches += 1
  ) {
    const { token, type } = place.cursor
    const { page, results } = await searchResources({ ...asked, type: place.key }, { ...search, token })
    items.push(...results)
    total = asked.type === '' ? null : (page.total ?? null)
    place = await types.seek(
      page.next_token === '' ? { type: type + 1, token: '' } : { type, token: page.next_token },
    )
  }
  const next = place === null ? null : place.cursor
  return { items, next, total, isCutShort: next !== null && items.length < search.limit }
}

export async function pageOfHolders(
  { type, instance, action }: HoldersAsked,
  token: string,
  { environment, limit, signal }: Search,
): Promise<CursorPage<string, string>> {
  const body = {
    subject: { type: SUBJECT },
    action: { name: action },
    resource: { type, id: instance },
    page: pageIn(token, limit),
  }
  const { page, results } = await answerOf(
    service.POST('/access/v1/search/subject', { body, signal, headers: environment.header }),
  )
  const next = page.next_token === '' ? null : page.next_token
  const items = results.map(({ id }) => id)
  return { items, next, total: page.total ?? null, isCutShort: next !== null && items.length < limit }
}

function searchResources(
  { user, action, type, tenant }: ResourcesAsked,
  { environment, token, limit, signal }: Search & { readonly token: string },
) {
  const body = {
    subject: { type: SUBJECT, id: user },
    action: { name: action },
    resource: { type, ...(tenant === '' ? {} : { properties: { tenant } }) },
    page: pageIn(token, limit),
  }
  return answerOf(service.POST('/access/v1/search/resource', { body, signal, headers: environment.header }))
}

/**
 * Page parameters of a search. The first request determines the page size. Later requests send a token
 * without a limit.
 */
function pageIn(token: string, limit: number): { token: string } | { limit: number } {
  return token === '' ? { limit } : { token }
}

interface TypePlace {
  readonly key: string
  readonly cursor: ResourceCursor
}

class OneType {
  readonly #key: string

  constructor(key: string) {
    this.#key = key
  }

  seek(cursor: ResourceCursor): TypePlace | null {
    return cursor.type === 0 ? { key: this.#key, cursor } : null
  }
}

class TypesWithAction {
  readonly #action: string
  readonly #load: LoadTypes

  constructor(action: string, load: LoadTypes) {
    this.#action = action
    this.#load = load
  }

  /** Finds the first type that has the action, beginning at the given position. */
  async seek({ type, token }: ResourceCursor): Promise<TypePlace | null> {
    for (let index = type; ; index += 1) {
      const types = await this.#load(Math.floor(index / TYPES_A_PAGE) + 1)
      const found = types[index % TYPES_A_PAGE]
      if (found === undefined) return null
      if (!Object.hasOwn(found.actions, this.#action)) continue
      return { key: found.key, cursor: { type: index, token: index === type ? token : '' } }
    }
  }
}
