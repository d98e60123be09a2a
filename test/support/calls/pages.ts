/** Pages on shelves: two small resource types for a test. */
import { type Client, fresh } from '#testing/processes/running-service.ts'

/** Creates a resource type with a fresh name, and its parent type. */
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

/** The parent type of pages. */
export function shelfOf(page: string): string {
  return page.replace('page', 'shelf')
}

/** The derivation by which keepers of a shelf get a role on its pages. */
export function inherited(page: string) {
  return { role: 'keeper', on_resource: shelfOf(page), linked_by_relation: 'on' }
}
