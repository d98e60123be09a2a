/**
 * The projects and environments of an organization, by the names that paths and grants use for them: keys and
 * ids (native.md B.1).
 */
import { idFrom } from '#model/instance-reference.ts'
import type { EnvironmentPlace, ProjectPlace } from '#model/principal.ts'

/** The place of a request, as its path or a header names it. */
export interface NamedPlace {
  readonly project: string
  /** Null if only the project is named. */
  readonly environment: string | null
}

/** Objects with the names of a `NamedPlace`. Null: not named, or it does not exist. */
export interface Place {
  readonly project: ProjectPlace | null
  readonly environment: EnvironmentPlace | null
}

/** Plain data, which can be sent to threads. */
export interface OrganizationPlaceNames {
  readonly organizationId: string
  readonly projects: readonly ProjectPlace[]
  readonly environments: readonly EnvironmentPlace[]
}

export class OrganizationPlaces implements OrganizationPlaceNames {
  readonly organizationId: string
  readonly projects: readonly ProjectPlace[]
  readonly environments: readonly EnvironmentPlace[]
  readonly #projects = new Map<string, ProjectPlace>()
  readonly #environments = new Map<string, Map<string, EnvironmentPlace>>()

  constructor({ organizationId, projects, environments }: OrganizationPlaceNames) {
    this.organizationId = organizationId
    this.projects = projects
    this.environments = environments
    // Keys can look like ids, and a key takes precedence, so the keys are set last.
    for (const project of projects) {
      this.#projects.set(project.projectId, project)
      this.#environments.set(project.projectId, new Map())
    }
    for (const project of projects) this.#projects.set(project.projectKey, project)
    for (const place of environments) this.#environments.get(place.projectId)?.set(place.environmentId, place)
    for (const place of environments)
      this.#environments.get(place.projectId)?.set(place.environmentKey, place)
  }

  /** Finds a place by key, then by id. */
  at({ project: projectName, environment: environmentName }: NamedPlace): Place {
    const project = found(this.#projects, projectName)
    const inside = project && this.#environments.get(project.projectId)
    if (!inside || environmentName === null) return { project, environment: null }
    return { project, environment: found(inside, environmentName) }
  }
}

function found<Found>(names: ReadonlyMap<string, Found>, reference: string): Found | null {
  const known = names.get(reference)
  if (known !== undefined) return known
  // Ids can be written in several ways.
  const id = idFrom(reference)
  return (id === null ? undefined : names.get(id)) ?? null
}
