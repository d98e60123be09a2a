/** Dialogs that nest a group in another one, or move it from one parent to another. */
import { type ReactNode, useState } from 'react'
import type { End } from '../interface/granted.ts'
import { ActionDialog } from '../parts/dialogs.tsx'
import { useFocusAfterRemoval } from '../parts/focus.ts'
import { EndInput } from '../parts/ends.tsx'
import { KeyInput } from '../parts/fields.tsx'
import { useWrite } from '../parts/writes.ts'
import type { FieldProblem } from '../interface/problem.ts'
import { useTexts } from '../texts/texts.tsx'
import { useCompletions } from './completions.ts'
import { granting, ConflictNote, useSeen } from './granting.tsx'
import { type Group, type Nesting, referenceIn, referenceOf, useGroupCalls } from './group-calls.ts'
import { fieldErrorOf, useUntil } from './field-errors.ts'

/**
 * Dialog that nests a group in another one. The user types one of the two groups. The other one is `group`.
 */
export function NestDialog({
  group,
  isOuter,
}: {
  readonly group: Group
  /** True if the typed group is nested in `group`. False if `group` is nested in the typed group. */
  readonly isOuter: boolean
}) {
  const texts = useTexts().groups
  const calls = useGroupCalls()
  const write = useWrite()
  const until = useUntil()
  const { groups } = useCompletions()
  const [other, setOther] = useState('')
  const [sent, setSent] = useState('')
  const [end, setEnd] = useState<End>(null)
  const name = referenceOf(group)
  const [child, parent] = isOuter ? [other, name] : [name, other]
  const trigger = isOuter ? texts.addGroup : texts.putInto
  const seen = useSeen()
  const what = texts.placeIn(child, parent)
  const nest = async (): Promise<void> => {
    setSent(other)
    const before = seen.endOf(what)
    const message =
      before === undefined ? texts.nested(child, parent, until(end)) : texts.endChanged(what, until(end))
    await seen.noting(what, write({ ...granting(calls.nesting({ child, parent }), end, before), message }))
  }
  return (
    <ActionDialog
      needs="write_facts"
      isDelegable
      trigger={trigger}
      triggerLook={{ kind: 'primary' }}
      title={trigger}
      sentence={texts.nestSentence(child, parent, until(end))}
      submit={texts.add}
      onOpen={() => {
        setOther('')
        setEnd(null)
        seen.forget()
      }}
      isShownAtField={problem =>
        groupErrorOf(problem, sent) !== null || fieldErrorOf(problem, 'expires_at') !== null
      }
      onSubmit={nest}
    >
      {problem => (
        <>
          <KeyInput
            label={texts.group}
            value={other}
            onChange={setOther}
            isRequired
            autoFocus
            problem={groupErrorOf(problem, sent)}
            {...groups(group.group_tenant)}
          />
          <EndInput onChange={setEnd} problem={fieldErrorOf(problem, 'expires_at')} />
          <ConflictNote seen={seen} what={what} />
        </>
      )}
    </ActionDialog>
  )
}

/**
 * Dialog that moves the child from its parent to a group that the user types. The expiration time of the
 * nesting is kept.
 */
export function MoveDialog({
  nesting,
  end: shownEnd,
  tenant,
  onGone,
}: {
  readonly nesting: Nesting
  readonly end: End
  readonly tenant: string
  readonly onGone: () => void
}): ReactNode {
  const texts = useTexts().groups
  const calls = useGroupCalls()
  const write = useWrite()
  const { groups } = useCompletions()
  const seen = useSeen()
  useFocusAfterRemoval(onGone)
  const [shown, setShown] = useState(shownEnd)
  const [target, setTarget] = useState('')
  const [sent, setSent] = useState('')
  const { child, parent } = nesting
  const [whatLeft, whatMade] = [texts.placeIn(child, parent), texts.placeIn(child, target)]
  const end = seen.endOf(whatLeft, shown)
  // If the target were the present parent, the move would remove the group from it.
  const isElsewhere = referenceIn(target) !== parent
  const move = async (): Promise<void> => {
    if (end === undefined) return
    setSent(target)
    const left = calls.nesting(nesting)
    const made = granting(calls.nesting({ child, parent: target }), end, seen.endOf(whatMade))
    // The move and its undo first add the new parent and then remove the old one. No member loses access in
    // between.
    await write({
      make: () =>
        bothOrNone({
          first: () => seen.noting(whatMade, made.make()),
          back: made.undo,
          second: () => seen.noting(whatLeft, left.drop(end)),
        }),
      message: texts.moved(child, parent, target),
      undo: () =>
        bothOrNone({ first: () => left.put(end, undefined), back: () => left.drop(end), second: made.undo }),
    })
  }
  return (
    <ActionDialog
      needs="write_facts"
      isDelegable
      trigger={texts.move}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      triggerLabel={texts.moveOf(child)}
      title={texts.moveOf(child)}
      sentence={texts.moveSentence(child, parent, target)}
      submit={texts.moveSubmit}
      onOpen={() => {
        setShown(shownEnd)
        setTarget('')
        seen.forget()
      }}
      isReady={isElsewhere && end !== undefined}
      isShownAtField={problem => groupErrorOf(problem, sent) !== null}
      onSubmit={move}
    >
      {problem => (
        <>
          <KeyInput
            label={texts.target}
            value={target}
            onChange={setTarget}
            isRequired
            autoFocus
            problem={groupErrorOf(problem, sent)}
            {...groups(tenant)}
          />
          <ConflictNote seen={seen} what={whatLeft} />
          <ConflictNote seen={seen} what={whatMade} />
        </>
      )}
    </ActionDialog>
  )
}

/** Makes two changes one after the other. If the second one fails, undoes the first one. */
async function bothOrNone({
  first,
  back,
  second,
}: Readonly<Record<'first' | 'back' | 'second', () => Promise<unknown>>>): Promise<void> {
  await first()
  try {
    await second()
  } catch (refused) {
    await back()
    throw refused
  }
}

/** Error about the group in a field. Messages quote the group as it was typed or with its type. */
function groupErrorOf(problem: unknown, typed: string): FieldProblem | null {
  return (
    fieldErrorOf(problem, 'group_instance_key', typed) ??
    (typed === '' ? null : fieldErrorOf(problem, '', `group:${typed}`))
  )
}
