/**
 * Adds a part to the model. Undo removes it only if its `ETag` is unchanged, because another user could have
 * changed it since.
 */
import { useCallback } from 'react'
import { useWrite } from '../../parts/writes.ts'

interface Addition {
  /** Creates the part and returns its `ETag`. */
  readonly add: () => Promise<string | null>
  readonly message: string
  /** Removes the part if it still has this `ETag`. */
  readonly remove: (tag: string | null) => Promise<unknown>
}

export function useAdd(): (addition: Addition) => Promise<void> {
  const write = useWrite()
  return useCallback(
    ({ add, message, remove }) => {
      let made: string | null = null
      return write({
        make: async () => {
          made = await add()
        },
        message,
        undo: () => remove(made),
      })
    },
    [write],
  )
}
