/** Debounces an input value: requests are sent when typing pauses, not for each keystroke. */
import { useEffect, useState } from 'react'

const PAUSE_MS = 200

export function useDebounced(value: string, pauseMs = PAUSE_MS): string {
  const [debounced, setDebounced] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value, pauseMs])
  return debounced
}
