/** Debounces an input value: requests are sent when typing pauses, not for each keystroke. */
import { useEffect, useState } from 'react'

const PAUSE_MS = 200

export function useSettled(value: string, pauseMs = PAUSE_MS): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value, pauseMs])
  return settled
}
