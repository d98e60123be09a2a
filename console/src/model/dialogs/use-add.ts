/** Adds something to the model, and takes it back only as it was made: it may be another one's by then. */
import { useCallback } from 'react'
import { useWrite } from '../../parts/writes.ts'

interface Addition {
  /** Answers the tag of what was made. */
  readonly add: () => Promise<string | null>
  readonly said: string
  /** With the tag that it must still have. */
  readonly remove: (tag: string | null) => Promise<unknown>
}

export function useAdd(): (addition: Addition) => Promise<void> {
  const write = useWrite()
  return useCallback(
    ({ add, said, remove }) => {
      let made: string | null = null
      return write({
        make: async () => {
          made = await add()
        },
        said,
        undo: () => remove(made),
      })
    },
    [write],
  )
}
