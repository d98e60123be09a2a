/** Changes: one is made, said, and can be taken back with one press. */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useTexts } from '../texts/texts.tsx'
import { say, sayProblem } from './toasts.tsx'

export interface Write {
  readonly make: () => Promise<unknown>
  /** One sentence in the past: `alice is a member of platform now.` */
  readonly said: string
  /** Makes it as it was; absent: there is no way back, and whoever asked for it was told. */
  readonly undo?: (() => Promise<unknown>) | undefined
}

/** Makes a change, and loads anew what is on the screen. Rejects with the `Problem` where it was refused; nothing is said then. */
export function useWrite(): (write: Write) => Promise<void> {
  const queries = useQueryClient()
  const texts = useTexts().parts
  return useCallback(
    async ({ make, said, undo }: Write) => {
      const reload = (): Promise<void> => queries.invalidateQueries({ queryKey: ['environment'] })
      await make()
      const takeBack = (): void => {
        if (undo === undefined) return
        undo().then(
          () => {
            say(texts.undone)
            void reload()
          },
          (problem: unknown) => sayProblem(problem),
        )
      }
      say(said, undo === undefined ? null : takeBack)
      await reload()
    },
    [queries, texts],
  )
}
