/** Names of projects and environments, for lists and messages. */
import type { Static, TSchema } from 'typebox'
import { EnvironmentList } from '#model/wire/organization/environment.ts'
import { ProjectList } from '#model/wire/organization/project.ts'
import { type Api, ask } from '#cli/session/api.ts'

/** Maximum size of a page of projects or environments. */
const PAGE_SIZE = 100

export const projectsIn = (api: Api) => allOf(api, ProjectList, '/v2/projects')

/** `project`: key or ID. */
export const environmentsIn = (api: Api, project: string) =>
  allOf(api, EnvironmentList, `/v2/projects/${encodeURIComponent(project)}/envs`)

/** Keys of projects and environments, by their IDs. */
export interface PlaceNames {
  readonly projects: ReadonlyMap<string, string>
  readonly environments: ReadonlyMap<string, string>
}

/**
 * Returns the keys of those given projects, and of their environments, that the caller's key can access.
 * Sends one or more requests for the list of projects, and one or more for each project.
 */
export async function namesOfPlaces(api: Api, projectIds: Iterable<string>): Promise<PlaceNames> {
  const projects = new Map((await projectsIn(api)).map(({ id, key }) => [id, key]))
  const environments = new Map<string, string>()
  for (const id of new Set(projectIds)) {
    if (!projects.has(id)) continue
    for (const environment of await environmentsIn(api, id)) environments.set(environment.id, environment.key)
  }
  return { projects, environments }
}

/** Returns the elements of all pages of a list whose response is a plain array. */
async function allOf<Schema extends TSchema>(api: Api, list: Schema, path: string): Promise<Static<Schema>> {
  const all: unknown[] = []
  for (let page = 1; ; page += 1) {
    const some = (await ask(api, list, 'GET', `${path}?page=${page}&per_page=${PAGE_SIZE}`)) as unknown[]
    all.push(...some)
    if (some.length < PAGE_SIZE) return all as Static<Schema>
  }
}
