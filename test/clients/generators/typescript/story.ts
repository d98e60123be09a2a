/**
 * Makes the same calls with every generated client: a check, a bulk of checks, a group with a member and a
 * role, and a search in pages. Prints the results as JSON. Arguments: address, environment key.
 */

export interface Question {
  readonly user: { readonly key: string }
  readonly action: string
  readonly resource: { readonly type: string; readonly key: string }
}

export interface Page {
  readonly ids: string[]
  /** Token of the next page, or empty on the last page. */
  readonly next: string
}

/** The calls of a generated client. */
export interface Calls {
  check(question: Question): Promise<boolean>
  bulk(questions: Question[]): Promise<boolean[]>
  createGroup(group: string, tenant: string): Promise<void>
  addMember(group: string, user: string, tenant: string): Promise<void>
  addRole(group: string, role: string, document: string, tenant: string): Promise<void>
  /** Documents that a user may read, one per page. */
  search(user: string, token: string | undefined): Promise<Page>
}

const about = (user: string, action: string): Question => ({
  user: { key: user },
  action,
  resource: { type: 'document', key: 'd1' },
})

export async function tell(calls: Calls): Promise<void> {
  const check = await calls.check(about('alice', 'read'))
  const bulk = await calls.bulk([about('alice', 'read'), about('alice', 'update')])
  const before = await calls.check(about('bob', 'read'))
  await calls.createGroup('staff', 'default')
  await calls.addMember('staff', 'bob', 'default')
  await calls.addRole('staff', 'viewer', 'd1', 'default')
  const after = await calls.check(about('bob', 'read'))
  const pages: string[][] = []
  let page: Page = { ids: [], next: '' }
  do {
    page = await calls.search('alice', page.next || undefined)
    pages.push(page.ids)
  } while (page.next !== '')
  process.stdout.write(JSON.stringify({ check, bulk, before, after, pages }))
}

export const [address, key] = process.argv.slice(2) as [string, string]
export const PLACE = { proj_id: 'default', env_id: 'default' }

/** The body of the search for one page. */
export const searchFor = (user: string, token: string | undefined) => ({
  subject: { type: 'user', id: user },
  action: { name: 'read' },
  resource: { type: 'document' },
  page: { limit: 1, ...(token !== undefined && { token }) },
})

/** The data of a response, for clients that return errors. Throws the error. */
export function ok<Data>({ data, error }: { data?: Data; error?: unknown }): Data {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}
