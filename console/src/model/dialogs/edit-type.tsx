/** The name of a type and what is said of it. Written only over what was read: who was later sees what is there now. */
import { useState } from 'react'
import { answerOf, service, taggedAnswerOf } from '../../interface/client.ts'
import { Problem } from '../../interface/problem.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { useWrite } from '../../parts/writes.ts'
import { usePlace } from '../../shell/place.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { ModelType } from '../model-reads.ts'

const TYPE = '/v2/schema/{proj_id}/{env_id}/resources/{resource_id}'

export function EditType({ type }: { readonly type: string }) {
  const texts = useTexts().model.graph
  const { path } = usePlace()
  const write = useWrite()
  const [read, setRead] = useState<{ readonly value: ModelType; readonly tag: string | null } | null>(null)
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const params = { path: { ...path, resource_id: type } }
  const load = () => taggedAnswerOf(service.GET(TYPE, { params }))
  const save = async (): Promise<void> => {
    const tag = read?.tag ?? null
    const before = read?.value
    const change = (to: { name: string; description: string }, over: string | null) =>
      answerOf(
        service.PATCH(TYPE, {
          params,
          body: to,
          ...(over === null ? {} : { headers: { 'If-Match': over } }),
        }),
      )
    try {
      await write({
        make: () => change({ name, description }, tag),
        said: texts.edit.said(type),
        undo:
          before === undefined
            ? undefined
            : async () =>
                change({ name: before.name, description: before.description ?? '' }, (await load()).tag),
      })
    } catch (problem) {
      // What is there now is shown beside what was typed; whoever saves again has seen it.
      if (problem instanceof Problem && problem.isStale) setRead(await load())
      throw problem
    }
  }
  return (
    <ActionDialog
      trigger={texts.edit.open}
      triggerLook={{ isSmall: true }}
      triggerLabel={texts.edit.label(type)}
      title={texts.edit.title(type)}
      sentence={texts.edit.sentence(type)}
      submit={texts.edit.save}
      onOpen={() => {
        setRead(null)
        void load().then(answer => {
          setRead(answer)
          setName(answer.value.name)
          setDescription(answer.value.description ?? '')
        })
      }}
      onSubmit={save}
    >
      {problem => {
        const about = problem instanceof Problem ? problem : null
        const now = about?.isStale === true ? read?.value : undefined
        return (
          <>
            <TextInput
              label={texts.name}
              value={name}
              onChange={setName}
              description={now === undefined ? undefined : texts.edit.now(now.name)}
              problem={about?.about('name')}
              isRequired
              autoFocus
            />
            <TextInput
              label={texts.edit.description}
              value={description}
              onChange={setDescription}
              description={now === undefined ? undefined : texts.edit.now(now.description ?? '')}
              problem={about?.about('description')}
            />
          </>
        )
      }}
    </ActionDialog>
  )
}
