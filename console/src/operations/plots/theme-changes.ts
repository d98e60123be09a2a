/** Counter that changes when the colors of the page change. Canvases are then drawn again. */
import { useSyncExternalStore } from 'react'

let changes = 0

export function useThemeChanges(): number {
  return useSyncExternalStore(follow, () => changes)
}

function follow(onChange: () => void): () => void {
  const changed = (): void => {
    changes += 1
    onChange()
  }
  const system = matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', changed)
  const chosen = new MutationObserver(changed)
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  return () => {
    system.removeEventListener('change', changed)
    chosen.disconnect()
  }
}
