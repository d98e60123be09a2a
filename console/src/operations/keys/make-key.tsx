/** Dialog that creates an API key and shows its secret. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, service } from '../../interface/client.ts'
import { environmentsIn, projectsLike } from '../../interface/places.ts'
import {
  accessLevelOf,
  errorAbout,
  isOfTenants,
  limitsIn,
  listed,
  TENANT_LEVELS,
} from '../../members/grant-draft.ts'
import { LimitFields, type Limits } from '../../members/limit-fields.tsx'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { Choice, KeyInput, TextInput } from '../../parts/fields.tsx'
import { useDebounced } from '../../parts/debounce.ts'
import { useCurrentEnvironmentIfAny } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { type ApiKey, KEYS } from './keys.ts'
import { type KeyLevel, LevelChoice, useLevelText } from './level-choice.tsx'
import { KeySecret } from './key-secret.tsx'

const FIELDS = ['name', 'project_id', 'environment_id', 'tenants', 'roles']
const NO_LIMITS: Limits = { tenants: '', roles: '' }

type Kind = ApiKey['object_type']

/** `ownProject` is the only project for which the session can create keys. Null means all projects. */
export function MakeKey({ ownProject }: { readonly ownProject: string | null }) {
  const { operations, members } = useTexts()
  const texts = operations.keys
  const { levelHelp } = members
  const current = useCurrentEnvironmentIfAny()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Kind>('env')
  const [level, setLevel] = useState<KeyLevel>('admin')
  const [limits, setLimits] = useState(NO_LIMITS)
  const levelText = useLevelText()
  const [project, setProject] = useState('')
  const [environment, setEnvironment] = useState('')
  const debouncedProject = useDebounced(project)
  const clear = (): void => {
    setName('')
    setKind('env')
    setLevel('admin')
    setLimits(NO_LIMITS)
    setProject(ownProject ?? current?.project ?? '')
    setEnvironment(current?.environment ?? '')
  }
  const sentence = {
    org: texts.makeSentence.org,
    project: texts.makeSentence.project(project || texts.unknown),
    env: texts.makeSentence.env(environment || texts.unknown),
  }
  return (
    <ActionDialog
      needs="admin"
      trigger={texts.make}
      triggerLook={{ kind: 'primary' }}
      title={texts.makeTitle}
      sentence={
        level === 'admin'
          ? sentence[kind]
          : isOfTenants(level)
            ? levelHelp[level]
            : texts.makeLesser(levelText(level))
      }
      submit={texts.make}
      onOpen={clear}
      isShownAtField={problem => FIELDS.some(field => errorAbout(problem, field, namesIn(limits)) !== null)}
      onClose={() => void queries.invalidateQueries({ queryKey: [KEYS] })}
      onSubmit={() =>
        answerOf(
          service.POST('/v2/api-key', {
            body: {
              object_type: kind,
              access_level: accessLevelOf(level),
              ...limitsIn(level, limits),
              ...(name === '' ? {} : { name }),
              ...(kind === 'org' ? {} : { project_id: project }),
              ...(kind === 'env' ? { environment_id: environment } : {}),
            },
          }),
        )
      }
      outcome={{
        title: texts.madeTitle,
        content: ({ secret }) => <KeySecret secret={secret ?? ''} />,
        close: texts.close,
      }}
    >
      {problem => {
        const about = (field: string) => errorAbout(problem, field)
        return (
          <>
            <TextInput
              label={texts.name}
              description={texts.nameHelp}
              value={name}
              onChange={setName}
              problem={about('name')}
              autoFocus
            />
            {ownProject === null ? (
              <Choice
                label={texts.kind}
                value={kind}
                onChange={chosen => {
                  setKind(chosen as Kind)
                  setLevel('admin')
                }}
                options={(['env', 'project', 'org'] as const).map(id => ({ id, text: texts.kinds[id] }))}
              />
            ) : null}
            <LevelChoice
              kind={kind}
              value={level}
              onChange={setLevel}
              more={kind === 'env' ? TENANT_LEVELS : []}
            />
            {isOfTenants(level) ? (
              <LimitFields
                limits={limits}
                hasRoles={level === 'tenant_write'}
                onChange={setLimits}
                problem={problem}
              />
            ) : null}
            {ownProject === null && kind !== 'org' ? (
              <KeyInput
                label={texts.projectField}
                value={project}
                onChange={setProject}
                queryKey={['projects']}
                load={projectsLike}
                problem={about('project_id')}
              />
            ) : null}
            {kind === 'env' ? (
              <KeyInput
                label={texts.environmentField}
                value={environment}
                onChange={setEnvironment}
                queryKey={['environments', debouncedProject]}
                load={environmentsIn(debouncedProject, ownProject)}
                problem={about('environment_id')}
              />
            ) : null}
          </>
        )
      }}
    </ActionDialog>
  )
}

/** Keys of tenants and roles that are typed. */
function namesIn({ tenants, roles }: Limits): readonly string[] {
  return [...listed(tenants), ...listed(roles)]
}
