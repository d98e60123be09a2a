/**
 * Media query for screens that are too narrow for two columns. It must match the query in `styles/frame.css`.
 */
import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 50rem)')

export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    onChange => {
      narrow.addEventListener('change', onChange)
      return () => narrow.removeEventListener('change', onChange)
    },
    () => narrow.matches,
  )
}
