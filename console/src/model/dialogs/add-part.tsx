/**
 * Adds a part of the model: its key, a name where it has one, and what else there is to say of it. What somebody else has made of it by
 * then is not taken back with it.
 */
import { type ReactNode, useState } from 'react'
import { type FieldProblem, Problem } from '../../interface/problem.ts'
import type { ActionLook } from '../../parts/action.tsx'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { useAdd } from './use-add.ts'

export function AddPart({
  trigger,
  look = { kind: 'quiet', isSmall: true },
  title,
  sentence,
  said,
  keyHelp,
  isNamed = true,
  add,
  remove,
  onOpen,
  onDone,
  children,
}: {
  readonly trigger: string
  readonly look?: ActionLook
  readonly title: string
  /** What pressing the last button does. */
  readonly sentence: (key: string) => string
  readonly said: (key: string) => string
  /** What the key is; absent: as everywhere. */
  readonly keyHelp?: string
  /** Whether people have a name for it. */
  readonly isNamed?: boolean
  /** Answers the tag of what was made. Without a name it is called by its key. */
  readonly add: (part: { readonly key: string; readonly name: string }) => Promise<string | null>
  /** Takes it back as it was made. */
  readonly remove: (key: string, tag: string | null) => Promise<unknown>
  /** Begins with other fields than key and name. */
  readonly onOpen?: () => void
  readonly onDone?: (key: string) => void
  /** Other fields, given what was refused last. */
  readonly children?: (problem: Problem | null) => ReactNode
}) {
  const texts = useTexts().model.graph
  const make = useAdd()
  const [key, setKey] = useState('')
  const [name, setName] = useState('')
  return (
    <ActionDialog
      trigger={trigger}
      triggerLook={look}
      title={title}
      sentence={sentence(key)}
      submit={texts.add}
      onOpen={() => {
        setKey('')
        setName('')
        onOpen?.()
      }}
      isSaidBeside={problem => aboutKey(problem) !== null}
      onSubmit={async () => {
        await make({
          add: () => add({ key, name: name === '' ? key : name }),
          said: said(key),
          remove: tag => remove(key, tag),
        })
        onDone?.(key)
      }}
    >
      {problem => {
        const refused = problem instanceof Problem ? problem : null
        return (
          <>
            <TextInput
              label={texts.key}
              value={key}
              onChange={setKey}
              description={keyHelp ?? texts.keyHelp}
              problem={aboutKey(refused)}
              isRequired
              autoFocus
            />
            {isNamed ? (
              <TextInput
                label={texts.name}
                value={name}
                onChange={setName}
                problem={refused?.about('name')}
              />
            ) : null}
            {children?.(refused)}
          </>
        )
      }}
    </ActionDialog>
  )
}

/** That it may not be a key, or that something has it; null: neither. */
function aboutKey(problem: unknown): FieldProblem | null {
  if (!(problem instanceof Problem)) return null
  return problem.status === 409 ? problem : problem.about('key')
}
