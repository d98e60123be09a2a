/** Page that creates a condition set. */
import { useState } from 'react'
import { useLocation } from 'wouter'
import { answerOf, onlyAs, service, taggedAnswerOf } from '../../interface/client.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { useWrite } from '../../parts/writes.ts'
import { forgetEdits, useEdits } from '../../shell/leaving.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { ModelPage } from '../model-page.tsx'
import { conditionWords } from './condition-words.ts'
import { bodyOf, differences, NEW_SET, readJson } from './set-draft.ts'
import { SetForm } from './set-form.tsx'

const SETS = '/v2/schema/{proj_id}/{env_id}/condition_sets'
const SET = `${SETS}/{condition_set_id}` as const

export default function NewSetPage() {
  const environment = useCurrentEnvironment()
  const texts = useTexts().model.sets
  const write = useWrite()
  const [, go] = useLocation()
  const [draft, setDraft] = useState(NEW_SET)
  const [problem, setProblem] = useState<unknown>(null)
  useEdits(draft.key !== '' || differences(draft, NEW_SET).length > 0)
  const name = draft.name === '' ? draft.key : draft.name
  const create = async (): Promise<void> => {
    const { path } = environment
    const body = bodyOf(draft)
    const at = { path: { ...path, condition_set_id: draft.key } }
    let made: string | null = null
    try {
      await write({
        make: async () => {
          await answerOf(service.POST(SETS, { params: { path }, body }))
          made = (await taggedAnswerOf(service.GET(SET, { params: at }))).tag
        },
        message: texts.created(name),
        undo: () => answerOf(service.DELETE(SET, { params: { ...at, header: onlyAs(made) } })),
      })
    } catch (refused) {
      setProblem(refused)
      throw refused
    }
    forgetEdits()
    go(environment.to('model', 'sets', draft.key))
  }
  const read = readJson(draft.text)
  return (
    <ModelPage
      title={texts.newTitle}
      lead={texts.newLead}
      actions={
        <ActionDialog
          needs="write"
          trigger={texts.create}
          triggerLook={{ kind: 'primary' }}
          title={texts.createTitle(name)}
          sentence={
            <>
              {texts.createSentence[draft.type](name)}{' '}
              {'value' in read ? <code>{conditionWords(read.value, texts.words)}</code> : texts.editor.noJson}
            </>
          }
          submit={texts.create}
          onSubmit={create}
        />
      }
    >
      <SetForm draft={draft} onChange={setDraft} savedKey={null} problem={problem} />
    </ModelPage>
  )
}
