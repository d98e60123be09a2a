/**
 * Dialog that deletes a group. The deletion cannot be undone. The dialog lists what is deleted with the
 * group.
 */
import { useLocation } from 'wouter'
import { ActionDialog } from '../parts/dialogs.tsx'
import { useWrite } from '../parts/writes.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useSpoken } from '../texts/texts.tsx'
import { type Group, referenceOf, useGroupCalls } from './group-calls.ts'

interface Counts {
  readonly members: number
  readonly roles: number
  readonly inside: number
  readonly around: number
}

export function DeleteGroup({ group, counts }: { readonly group: Group; readonly counts: Counts }) {
  const { texts: all, number } = useSpoken()
  const texts = all.groups
  const environment = useCurrentEnvironment()
  const calls = useGroupCalls()
  const write = useWrite()
  const [, go] = useLocation()
  const name = referenceOf(group)
  return (
    <ActionDialog
      needs="write_facts"
      trigger={texts.delete}
      triggerLook={{ kind: 'danger' }}
      title={texts.deleteOf(name)}
      sentence={texts.deleteSentence(name, {
        members: number(counts.members),
        roles: number(counts.roles),
        inside: number(counts.inside),
        around: number(counts.around),
      })}
      submit={texts.deleteSubmit}
      isDanger
      onSubmit={() =>
        write({
          make: async () => {
            await calls.remove(name, null)
            // Leaves the page of the group first. Otherwise the queries of the page would request the deleted
            // group again.
            go(environment.to('groups'))
          },
          message: texts.deleted(name),
        })
      }
    >
      {/*
       * With this content, the dialog does not give the initial focus to the delete button. A second Enter
       * therefore does not confirm the deletion.
       */}
      {() => null}
    </ActionDialog>
  )
}
