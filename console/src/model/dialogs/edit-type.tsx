/** The name of a type and what is said of it. Written only over what was read: who was later sees what is there now. */
import { useRef, useState } from 'react'
import { onlyAs, service, taggedAnswerOf } from '../../interface/client.ts'
import { Problem } from '../../interface/problem.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useWrite } from '../../parts/writes.ts'
import { usePlace } from '../../shell/place.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { ModelType } from '../model-reads.ts'

interface Read {
  readonly value: ModelType
  readonly tag: string | null
}

const TYPE = '/v2/schema/{proj_id}/{env_id}/resources/{resource_id}'

export function EditType({ type }: { readonly type: string }) {
  const texts = useTexts().model.graph
  const { path } = usePlace()
  const write = useWrite()
  const [read, setRead] = useState<Read | null>(null)
  const [unread, setUnread] = useState<unknown>(null)
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const params = { path: { ...path, resource_id: type } }
  /** The dialog that was opened last: what was read for another one is not for its fields. */
  const opened = useRef<symbol | null>(null)
  const load = () => taggedAnswerOf(service.GET(TYPE, { params }))
  const open = async (): Promise<void> => {
    const dialog = Symbol('dialog')
    opened.current = dialog
    setRead(null)
    setUnread(null)
    setName('')
    setDescription('')
    try {
      const answer = await load()
      if (opened.current !== dialog) return
      setRead(answer)
      setName(answer.value.name)
      setDescription(answer.value.description ?? '')
    } catch (problem) {
      if (opened.current === dialog) setUnread(problem)
    }
  }
  /** Over what was read, or written, with that tag. */
  const change = (to: Pick<ModelType, 'name' | 'description'>, over: string | null) =>
    taggedAnswerOf(
      service.PATCH(TYPE, {
        params,
        body: to,
        headers: { ...onlyAs(over) },
      }),
    )
  const save = async (): Promise<void> => {
    if (read === null) return
    const { value: before, tag } = read
    let written: string | null = null
    try {
      await write({
        make: async () => {
          written = (await change({ name, description }, tag)).tag
        },
        said: texts.edit.said(type),
        // What others wrote after it is not taken back with it.
        undo: () => change({ name: before.name, description: before.description }, written),
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
      isReady={read !== null}
      onOpen={() => void open()}
      onSubmit={save}
    >
      {problem => {
        const about = problem instanceof Problem ? problem : null
        const now = about?.isStale === true ? read?.value : undefined
        return (
          <>
            <ProblemNote error={unread} />
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
