/** Makes a change, reports it in a toast, and offers to undo it. */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useTexts } from '../texts/texts.tsx'
import { notify, notifyProblem } from './toasts.tsx'

export interface Write {
  readonly make: () => Promise<unknown>
  /** Sentence about the completed change: `alice is a member of platform now.` */
  readonly message: string
  /** Restores the former state; absent if that is not possible. */
  readonly undo?: (() => Promise<unknown>) | undefined
}

/**
 * Makes a change and reloads the data on the screen. If the change fails, rejects with the `Problem` and
 * shows no message.
 */
export function useWrite(): (write: Write) => Promise<void> {
  const queries = useQueryClient()
  const texts = useTexts().parts
  return useCallback(
    async ({ make, message, undo }: Write) => {
      const reload = (): Promise<void> => queries.invalidateQueries({ queryKey: ['environment'] })
      await make()
      const takeBack = (): void => {
        if (undo === undefined) return
        undo().then(
          () => {
            notify(texts.undone)
            void reload()
          },
          (problem: unknown) => notifyProblem(problem),
        )
      }
      notify(message, undo === undefined ? null : takeBack)
      await reload()
    },
    [queries, texts],
  )
}
