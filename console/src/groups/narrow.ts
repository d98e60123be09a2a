/** Whether the screen is too narrow for two things side by side, as `styles/frame.css` has it. */
import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 50rem)')

export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    told => {
      narrow.addEventListener('change', told)
      return () => narrow.removeEventListener('change', told)
    },
    () => narrow.matches,
  )
}
