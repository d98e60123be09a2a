/** Names of projects and environments, for lists and messages. */
import { EnvironmentList } from '#model/wire/organization/environment.ts'
import { ProjectList } from '#model/wire/organization/project.ts'
import type { Api } from '#cli/session/api.ts'
import { allPages } from './pages.ts'

export const projectsIn = (api: Api) => allPages(api, ProjectList, '/v2/projects')

/** `project`: key or ID. */
export const environmentsIn = (api: Api, project: string) =>
  allPages(api, EnvironmentList, `/v2/projects/${encodeURIComponent(project)}/envs`)

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
