/** Dialog that creates an API key and shows its secret. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, service } from '../../interface/client.ts'
import { Problem } from '../../interface/problem.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { Choice, KeyInput, TextInput } from '../../parts/fields.tsx'
import { useDebounced } from '../../parts/debounce.ts'
import type { Level } from '../../session/level.ts'
import { useCurrentEnvironmentIfAny } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { type ApiKey, KEYS } from './keys.ts'
import { LevelChoice } from './level-choice.tsx'
import { SecretText } from './secret-text.tsx'

const OPTIONS_SHOWN = 20

const FIELDS = ['name', 'project_id', 'environment_id']

type Kind = ApiKey['object_type']

/** `ownProject` is the only project for which the session can create keys. Null means all projects. */
export function MakeKey({ ownProject }: { readonly ownProject: string | null }) {
  const texts = useTexts().operations.keys
  const current = useCurrentEnvironmentIfAny()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Kind>('env')
  const [level, setLevel] = useState<Level>('admin')
  const [project, setProject] = useState('')
  const [environment, setEnvironment] = useState('')
  const debouncedProject = useDebounced(project)
  /** Whether the typed text names a project. A partly typed key does not name one yet. */
  const isProject = async (typed: string, signal: AbortSignal): Promise<boolean> =>
    typed !== '' &&
    (typed === ownProject || (await projectsLike(typed, signal)).some(({ id }) => id === typed))
  const clear = (): void => {
    setName('')
    setKind('env')
    setLevel('admin')
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
      sentence={level === 'admin' ? sentence[kind] : texts.makeLesser(texts.levels[level])}
      submit={texts.make}
      onOpen={clear}
      isShownAtField={problem =>
        problem instanceof Problem && FIELDS.some(field => problem.about(field) !== null)
      }
      onClose={() => void queries.invalidateQueries({ queryKey: [KEYS] })}
      onSubmit={() =>
        answerOf(
          service.POST('/v2/api-key', {
            body: {
              object_type: kind,
              access_level: level,
              ...(name === '' ? {} : { name }),
              ...(kind === 'org' ? {} : { project_id: project }),
              ...(kind === 'env' ? { environment_id: environment } : {}),
            },
          }),
        )
      }
      outcome={{
        title: texts.madeTitle,
        content: ({ secret }) => <SecretText secret={secret ?? ''} />,
        close: texts.close,
      }}
    >
      {problem => {
        const about = (field: string) => (problem instanceof Problem ? problem.about(field) : null)
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
            <LevelChoice kind={kind} value={level} onChange={setLevel} />
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
                load={async (search, signal) =>
                  (await isProject(debouncedProject, signal))
                    ? environmentsLike(debouncedProject, search, signal)
                    : []
                }
                problem={about('environment_id')}
              />
            ) : null}
          </>
        )
      }}
    </ActionDialog>
  )
}

async function projectsLike(search: string, signal: AbortSignal) {
  const query = { per_page: OPTIONS_SHOWN, ...(search === '' ? {} : { search }) }
  const found = await answerOf(service.GET('/v2/projects', { params: { query }, signal }))
  return found.map(({ key, name }) => ({ id: key, note: name }))
}

async function environmentsLike(project: string, search: string, signal: AbortSignal) {
  const query = { per_page: OPTIONS_SHOWN, ...(search === '' ? {} : { search }) }
  const params = { path: { proj_id: project }, query }
  const found = await answerOf(service.GET('/v2/projects/{proj_id}/envs', { params, signal }))
  return found.map(({ key, name }) => ({ id: key, note: name }))
}
