/** Pages on shelves: a small resource for one test, with everything a schema has. */
import { type Client, fresh } from '#testing/processes/running-service.ts'

/** Makes a resource of a fresh name, and the one above it. Pages can be read, written and printed. */
export async function newPage(verdict: Client): Promise<string> {
  const [page, shelf] = fresh('page', 'shelf')
  await verdict.resource({ key: shelf, roles: { keeper: { name: 'Keeper' }, porter: { name: 'Porter' } } })
  await verdict.resource({
    key: page,
    actions: { read: {}, write: {}, print: {} },
    roles: { viewer: { name: 'Viewer', permissions: ['read'] }, editor: { name: 'Editor' } },
    relations: { on: shelf },
  })
  return page
}

/** The resource whose instances pages stand on. */
export function shelfOf(page: string): string {
  return page.replace('page', 'shelf')
}

/** The entry by which keepers of a shelf get a role on the pages that stand on it. */
export function inherited(page: string) {
  return { role: 'keeper', on_resource: shelfOf(page), linked_by_relation: 'on' }
}
