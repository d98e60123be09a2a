/** Reads all pages of lists. */
import type { Static, TArray, TSchema } from 'typebox'
import type { envelope } from '#model/wire/paging.ts'
import { type Api, ask } from '#cli/session/api.ts'

/** Maximum size of a page. */
const PAGE_SIZE = 100

/** Returns the elements of a list whose response is a plain array. `path` can contain a query. */
export async function allPages<List extends TArray>(
  api: Api,
  list: List,
  path: string,
): Promise<Static<List>> {
  const all: unknown[] = []
  for (let page = 1; ; page += 1) {
    const some: unknown[] = await ask(api, list, 'GET', pathOf(path, page))
    all.push(...some)
    if (some.length < PAGE_SIZE) return all as Static<List>
  }
}

/** Returns the elements of a list whose response has an envelope. `path` can contain a query. */
export async function allInEnvelopes<Item extends TSchema>(
  api: Api,
  schema: ReturnType<typeof envelope<Item>>,
  path: string,
): Promise<Static<Item>[]> {
  const all: Static<Item>[] = []
  for (let page = 1; ; page += 1) {
    const { data, page_count } = await ask(api, schema, 'GET', pathOf(path, page))
    all.push(...data)
    if (page >= page_count) return all
  }
}

function pathOf(path: string, page: number): string {
  return `${path}${path.includes('?') ? '&' : '?'}page=${page}&per_page=${PAGE_SIZE}`
}
