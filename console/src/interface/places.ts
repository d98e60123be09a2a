/** Completes the keys of projects and environments. */
import { answerOf, service } from './client.ts'
import type { Complete } from './completions.ts'

const OPTIONS_SHOWN = 20

export async function projectsLike(search: string, signal: AbortSignal) {
  const query = { per_page: OPTIONS_SHOWN, ...(search === '' ? {} : { search }) }
  const found = await answerOf(service.GET('/v2/projects', { params: { query }, signal }))
  return found.map(({ key, name }) => ({ id: key, note: name }))
}

/** Completes environments of the project whose key is typed. A partly typed key does not name one yet. */
export function environmentsIn(project: string, ownProject: string | null): Complete {
  return async (search, signal) => {
    const isProject =
      project !== '' &&
      (project === ownProject || (await projectsLike(project, signal)).some(({ id }) => id === project))
    return isProject ? environmentsLike(project, search, signal) : []
  }
}

async function environmentsLike(project: string, search: string, signal: AbortSignal) {
  const query = { per_page: OPTIONS_SHOWN, ...(search === '' ? {} : { search }) }
  const params = { path: { proj_id: project }, query }
  const found = await answerOf(service.GET('/v2/projects/{proj_id}/envs', { params, signal }))
  return found.map(({ key, name }) => ({ id: key, note: name }))
}
