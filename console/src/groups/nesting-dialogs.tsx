/** Puts a group into another one, and moves it from one to another. */
import { type ReactNode, useState } from 'react'
import { ActionDialog } from '../parts/dialogs.tsx'
import { EndInput } from '../parts/ends.tsx'
import { KeyInput } from '../parts/fields.tsx'
import { useWrite } from '../parts/writes.ts'
import { useTexts } from '../texts/texts.tsx'
import { useCompletions } from './completions.ts'
import {
  type End,
  findInPages,
  type Group,
  type GroupCalls,
  referenceIn,
  referenceOf,
  useGroupCalls,
} from './group-calls.ts'
import { saidOf, useUntil } from './said.ts'
import { takeBack } from './take-back.ts'

/** The end of the nesting that is there; undefined: there is none. */
export async function nestingEnd(calls: GroupCalls, parent: string, child: string): Promise<End | undefined> {
  const found = await findInPages(
    page => calls.parents(child, page),
    link => referenceOf(link) === referenceIn(parent),
  )
  return found?.expires_at
}

/** `sentence` of both, and what is typed is the group on the other side of `group`. */
export function NestDialog({
  group,
  isOuter,
}: {
  readonly group: Group
  /** Whether the group that is typed goes into `group`; else the other way round. */
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
  const nest = async (): Promise<void> => {
    setSent(other)
    const before = await nestingEnd(calls, parent, child)
    await write({
      make: () => calls.nest(parent, child, end),
      said: texts.nested(child, parent, until(end)),
      undo: () =>
        takeBack(
          end,
          () => nestingEnd(calls, parent, child),
          () => (before === undefined ? calls.unnest(parent, child) : calls.nest(parent, child, before)),
        ),
    })
  }
  return (
    <ActionDialog
      trigger={trigger}
      triggerLook={{ kind: 'primary' }}
      title={trigger}
      sentence={texts.nestSentence(child, parent, until(end))}
      submit={texts.add}
      onOpen={() => {
        setOther('')
        setEnd(null)
      }}
      isSaidBeside={problem => saidOfGroup(problem, sent) !== null || saidOf(problem, 'expires_at') !== null}
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
            problem={saidOfGroup(problem, sent)}
            {...groups(group.group_tenant)}
          />
          <EndInput onChange={setEnd} problem={saidOf(problem, 'expires_at')} />
        </>
      )}
    </ActionDialog>
  )
}

/** Moves `child` out of `parent` into a group that is typed. It ends when it was to end. */
export function MoveDialog({
  child,
  parent,
  end,
  tenant,
  onGone,
}: {
  readonly child: string
  readonly parent: string
  readonly end: End
  readonly tenant: string
  readonly onGone: () => void
}): ReactNode {
  const texts = useTexts().groups
  const calls = useGroupCalls()
  const write = useWrite()
  const { groups } = useCompletions()
  const [target, setTarget] = useState('')
  const [sent, setSent] = useState('')
  // Out of a group and into the same one would be out of it.
  const isElsewhere = referenceIn(target) !== parent
  const move = async (): Promise<void> => {
    setSent(target)
    const before = await nestingEnd(calls, target, child)
    const leaveTarget = () =>
      before === undefined ? calls.unnest(target, child) : calls.nest(target, child, before)
    await write({
      make: async () => {
        // In both first, so that nobody loses anything in between. Where the second step is refused, the first is taken back.
        await calls.nest(target, child, end)
        try {
          await calls.unnest(parent, child)
        } catch (refused) {
          await leaveTarget()
          throw refused
        }
      },
      said: texts.moved(child, parent, target),
      undo: () =>
        takeBack(
          end,
          () => nestingEnd(calls, target, child),
          async () => {
            await takeBack(
              undefined,
              () => nestingEnd(calls, parent, child),
              () => calls.nest(parent, child, end),
            )
            await leaveTarget()
          },
        ),
    })
    requestAnimationFrame(() => requestAnimationFrame(onGone))
  }
  return (
    <ActionDialog
      trigger={texts.move}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      triggerLabel={texts.moveOf(child)}
      title={texts.moveOf(child)}
      sentence={texts.moveSentence(child, parent, target)}
      submit={texts.moveSubmit}
      onOpen={() => setTarget('')}
      isReady={isElsewhere}
      isSaidBeside={problem => saidOfGroup(problem, sent) !== null}
      onSubmit={move}
    >
      {problem => (
        <KeyInput
          label={texts.target}
          value={target}
          onChange={setTarget}
          isRequired
          autoFocus
          problem={saidOfGroup(problem, sent)}
          {...groups(tenant)}
        />
      )}
    </ActionDialog>
  )
}

/** Groups are quoted as they were typed, or with their type. */
function saidOfGroup(problem: unknown, typed: string): string | null {
  return (
    saidOf(problem, 'group_instance_key', typed) ??
    (typed === '' ? null : saidOf(problem, '', `group:${typed}`))
  )
}
