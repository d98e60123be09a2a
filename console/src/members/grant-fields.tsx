/** Fields for a grant: the object, the level, and the limits of a grant for tenants. */
import { environmentsIn, projectsLike } from '../interface/places.ts'
import { useDebounced } from '../parts/debounce.ts'
import { Choice, KeyInput } from '../parts/fields.tsx'
import type { Managed } from '../session/held.ts'
import { useTexts } from '../texts/texts.tsx'
import {
  errorAbout,
  type GrantDraft,
  type GrantLevel,
  type GrantObject,
  isOfTenants,
  levelName,
  levelsFor,
  listed,
  objectsFor,
} from './grant-draft.ts'
import { LimitFields } from './limit-fields.tsx'

export function GrantFields({
  draft,
  onChange,
  managed,
  problem,
}: {
  readonly draft: GrantDraft
  readonly onChange: (draft: GrantDraft) => void
  readonly managed: Managed | null
  readonly problem: unknown
}) {
  const texts = useTexts().members
  const { object, project, environment, level } = draft
  const debouncedProject = useDebounced(project)
  const ownProject = managed?.ownProject ?? null
  return (
    <>
      <Choice
        label={texts.object}
        value={object}
        onChange={chosen => {
          const next = chosen as GrantObject
          onChange({ ...draft, object: next, level: levelsFor(next).includes(level) ? level : 'read' })
        }}
        options={objectsFor(managed).map(id => ({ id, text: texts.objects[id] }))}
      />
      {object === 'org' || ownProject !== null ? null : (
        <KeyInput
          label={texts.project}
          value={project}
          onChange={typed => onChange({ ...draft, project: typed })}
          queryKey={['projects']}
          load={projectsLike}
          isRequired
          problem={errorAbout(problem, 'project_id', [project])}
        />
      )}
      {object === 'env' ? (
        <KeyInput
          label={texts.environment}
          value={environment}
          onChange={typed => onChange({ ...draft, environment: typed })}
          queryKey={['environments', debouncedProject]}
          load={environmentsIn(debouncedProject, ownProject)}
          isRequired
          problem={errorAbout(problem, 'environment_id', [environment])}
        />
      ) : null}
      <Choice
        label={texts.level}
        description={texts.levelHelp[level]}
        value={level}
        onChange={chosen => onChange({ ...draft, level: chosen as GrantLevel })}
        options={levelsFor(object).map(id => ({ id, text: levelName(id, texts) }))}
        problem={errorAbout(problem, 'access_level')}
      />
      {isOfTenants(level) ? (
        <LimitFields
          limits={draft}
          hasRoles={level === 'tenant_write'}
          onChange={limits => onChange({ ...draft, ...limits })}
          problem={problem}
        />
      ) : null}
    </>
  )
}

/** Whether a field shows the error. */
export function isAboutGrant(
  problem: unknown,
  { project, environment, tenants, roles }: GrantDraft,
): boolean {
  const fields = { project_id: [project], environment_id: [environment], access_level: [] }
  const limits = { tenants: listed(tenants), roles: listed(roles) }
  return Object.entries({ ...fields, ...limits }).some(
    ([field, typed]) => errorAbout(problem, field, typed) !== null,
  )
}
