/** API schemas of projects (native.md B.13). */
import { type Static, Type } from 'typebox'
import { INITIAL_ENVIRONMENTS_MAX } from '#model/limits.ts'
import { AttributeMap, Name, nullable, optional, Text, timeFields, Uuid } from '#model/wire/common-fields.ts'
import { pagingQuery, SearchText } from '#model/wire/paging.ts'
import { Reference, ShortKey } from '#model/wire/references.ts'
import { EnvironmentCreate } from './environment.ts'

/** Fields that are stored for clients and have no effect. */
const describingFields = {
  description: optional(Text),
  settings: optional(AttributeMap),
  active_policy_repo_id: optional(Text),
}

export const ProjectCreate = Type.Object({
  key: ShortKey,
  name: Name,
  urn_namespace: optional(Text),
  ...describingFields,
  initial_environments: optional(
    Type.Array(EnvironmentCreate, { maxItems: INITIAL_ENVIRONMENTS_MAX }),
    'Environments that are created with the project. Absent or null: `dev` and `production`. `[]` creates none.',
  ),
})
export type ProjectCreate = Static<typeof ProjectCreate>

export const ProjectUpdate = Type.Object({ name: Type.Optional(Name), ...describingFields })
export type ProjectUpdate = Static<typeof ProjectUpdate>

export const Project = Type.Object({
  id: Uuid,
  key: ShortKey,
  organization_id: Uuid,
  ...timeFields,
  name: Name,
  description: nullable(Text),
  urn_namespace: nullable(Text),
  settings: nullable(AttributeMap),
  active_policy_repo_id: nullable(Text),
})
export type Project = Static<typeof Project>

/** List of projects. It is always an array without an envelope (native.md B.1). */
export const ProjectList = Type.Array(Project)

export const ProjectsQuery = Type.Object({ ...pagingQuery, search: Type.Optional(SearchText) })
export type ProjectsQuery = Static<typeof ProjectsQuery>

export const ProjectPath = Type.Object({ proj_id: Reference })
export type ProjectPath = Static<typeof ProjectPath>
