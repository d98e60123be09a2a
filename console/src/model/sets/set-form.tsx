/**
 * Form with the fields and the conditions of a condition set. It also shows the results of the conditions for
 * samples.
 */
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { completeTypes } from '../../interface/completions.ts'
import { Problem } from '../../interface/problem.ts'
import { Choice, KeyInput, LongTextInput, TextInput } from '../../parts/fields.tsx'
import { Card } from '../../parts/page.tsx'
import { Skeleton } from '../../parts/paged-table.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { loadParents } from './options.ts'
import { keyOfName, type SetDraft, type SetType } from './set-draft.ts'
import { TrialCard } from './trial-card.tsx'
import { useAttributes } from './use-attributes.ts'
import { useSamples } from './use-samples.ts'
import { useTrial } from './use-trial.ts'

const ConditionsEditor = lazy(() => import('./editor/conditions-editor.tsx'))

/** `savedKey` is the key of a saved set, or null for a new set. `problem` is the last error. */
export function SetForm({
  draft,
  onChange,
  savedKey,
  problem,
  children,
}: {
  readonly draft: SetDraft
  readonly onChange: (draft: SetDraft) => void
  readonly savedKey: string | null
  readonly problem: unknown
  /** Content below the fields. */
  readonly children?: ReactNode
}) {
  const texts = useTexts().model.sets
  const samples = useSamples(draft.type, draft.resource)
  const trial = useTrial(draft, savedKey, samples.samples, samples.surroundings)
  const attributes = useAttributes(draft.resource)
  const put = (fields: Partial<SetDraft>): void => onChange({ ...draft, ...fields })
  return (
    <div className="set-form">
      <Card title={texts.whatItIs}>
        <SetFields draft={draft} put={put} savedKey={savedKey} problem={problem} />
        <Suspense fallback={<Skeleton />}>
          <ConditionsEditor
            text={draft.text}
            onChange={text => put({ text })}
            findings={trial.findings}
            attributes={attributes}
          />
        </Suspense>
        {trial.warnings.map(warning => (
          <p className="note warn small" key={warning}>
            {warning}
          </p>
        ))}
        <ProblemNote error={trial.error} />
      </Card>
      <TrialCard draft={draft} trial={trial} samples={samples} />
      {children}
    </div>
  )
}

function SetFields({
  draft,
  put,
  savedKey,
  problem,
}: {
  readonly draft: SetDraft
  readonly put: (fields: Partial<SetDraft>) => void
  readonly savedKey: string | null
  readonly problem: unknown
}) {
  const environment = useCurrentEnvironment()
  const texts = useTexts().model.sets
  const [isKeyTyped, setIsKeyTyped] = useState(false)
  const about = (field: string) => (problem instanceof Problem ? problem.about(field) : null)
  const isNew = savedKey === null
  return (
    <>
      <div className="fields-in-pairs">
        <TextInput
          label={texts.name}
          value={draft.name}
          onChange={name => put({ name, ...(isNew && !isKeyTyped ? { key: keyOfName(name) } : {}) })}
          problem={about('name')}
          isRequired
          autoFocus={isNew}
        />
        {isNew ? (
          <TextInput
            label={texts.key}
            value={draft.key}
            onChange={key => {
              setIsKeyTyped(true)
              put({ key })
            }}
            problem={about('key')}
            description={texts.keyHelp}
            isRequired
          />
        ) : null}
        {isNew ? (
          <Choice
            label={texts.type}
            value={draft.type}
            onChange={type => put({ type: type as SetType })}
            options={(['userset', 'resourceset'] as const).map(id => ({ id, text: texts.types[id] }))}
            description={texts.typeNotes[draft.type]}
          />
        ) : null}
        {isNew && draft.type === 'resourceset' ? (
          <KeyInput
            label={texts.resource}
            value={draft.resource}
            onChange={resource => put({ resource })}
            queryKey={environment.key('resource', 'set-resources')}
            load={completeTypes(environment)}
            problem={about('resource_id')}
            description={texts.resourceHelp}
          />
        ) : null}
        <KeyInput
          label={texts.parent}
          value={draft.parent}
          onChange={parent => put({ parent })}
          queryKey={environment.key('condition_set', 'parents', draft.type, savedKey)}
          load={loadParents(environment, draft.type, savedKey)}
          problem={about('parent_id')}
          description={texts.parentHelp}
        />
      </div>
      <LongTextInput
        label={texts.description}
        value={draft.description}
        onChange={description => put({ description })}
        problem={about('description')}
        rows={2}
      />
    </>
  )
}
