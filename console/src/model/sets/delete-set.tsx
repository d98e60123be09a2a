/** Dialog that deletes a condition set and the rules that use it. The undo restores both. */
import { useLocation } from 'wouter'
import { answerOf, onlyAs, service } from '../../interface/client.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { useWrite } from '../../parts/writes.ts'
import { forgetEdits } from '../../shell/leaving.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { Resting } from './resting.tsx'
import { KEPT_RULES_MAX, type SavedSet, useRestingOn } from './use-set.ts'

/** `restore` re-creates the set. */
export function DeleteSet({
  current: { set, tag },
  restore,
}: {
  readonly current: SavedSet
  readonly restore: () => Promise<unknown>
}) {
  const environment = useCurrentEnvironment()
  const texts = useTexts().model.sets
  const write = useWrite()
  const [, go] = useLocation()
  const { data: resting } = useRestingOn(set)
  const remove = async (): Promise<void> => {
    const path = { ...environment.path, condition_set_id: set.key }
    // If more rules use the set than were loaded, the undo could restore only some rules. It is then not
    // offered.
    const isKept = resting !== undefined && resting.total <= KEPT_RULES_MAX
    const undo = async (): Promise<void> => {
      await restore()
      for (const { user_set, permission, resource_set } of resting?.rules ?? []) {
        await answerOf(
          service.POST('/v2/facts/{proj_id}/{env_id}/set_rules', {
            params: { path: environment.path },
            body: { user_set, permission, resource_set },
          }),
        )
      }
    }
    await write({
      make: async () => {
        await answerOf(
          service.DELETE('/v2/schema/{proj_id}/{env_id}/condition_sets/{condition_set_id}', {
            params: { path, header: onlyAs(tag) },
          }),
        )
        // Discards the edits and leaves the page of the set. Otherwise the queries of the page would request
        // the deleted set, and the user would be asked whether to discard the edits of a deleted set.
        forgetEdits()
        go(environment.to('model', 'sets'))
      },
      message: texts.deleted(set.name),
      undo: isKept ? undo : undefined,
    })
  }
  return (
    <ActionDialog
      needs="write"
      trigger={texts.delete}
      triggerLook={{ kind: 'danger' }}
      title={texts.deleteTitle(set.name)}
      sentence={<Resting set={set} sentence={texts.deleteSentence} />}
      submit={texts.delete}
      isDanger
      onSubmit={remove}
    />
  )
}
