/**
 * Viewport of a large drawing. The user can pan it by dragging, and zoom with the wheel (with Ctrl), by
 * pinching or with buttons.
 */
import { type PointerEvent, type RefCallback, useCallback, useEffect, useRef, useState } from 'react'

export interface View {
  readonly x: number
  readonly y: number
  readonly scale: number
}

interface Size {
  readonly width: number
  readonly height: number
}

interface Rectangle extends Size {
  readonly x: number
  readonly y: number
}

const SCALE = { min: 0.1, max: 2 } as const
const MARGIN = 24
/** Maximum movement in pixels that still counts as a press and not as a drag. */
const TREMBLE = 4
export const STEP = 1.25

/**
 * `content` is the size of the drawing. `start` identifies the drawing; the viewport is reset when it
 * changes. `readable` is the minimum scale at which the text is readable. If the drawing does not fit at this
 * scale, the viewport starts at its corner.
 */
export function useView(content: Size, start: string, readable: number) {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 })
  const [view, setView] = useState<View>({ x: MARGIN, y: MARGIN, scale: 1 })
  const [element, setElement] = useState<HTMLElement | null>(null)
  const pointers = useRef(new Map<number, { x: number; y: number }>())
  const isDragging = useRef(false)
  /**
   * Identifier of the drawing that the user has moved. Null if the viewport still adapts to the size of its
   * container.
   */
  const moved = useRef<string | null>(null)

  useEffect(() => {
    if (element === null) return
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [element])

  const { width: contentWidth, height: contentHeight } = content
  const wholeScale = Math.min(
    1,
    (size.width - 2 * MARGIN) / contentWidth,
    (size.height - 2 * MARGIN) / contentHeight,
  )
  const fitted = (scale: number): View => ({
    scale,
    x: Math.max(MARGIN, (size.width - contentWidth * scale) / 2),
    y: Math.max(MARGIN, (size.height - contentHeight * scale) / 2),
  })
  useEffect(() => {
    if (moved.current === start || size.width === 0 || contentWidth === 0) return
    moved.current = null
    setView(fitted(Math.max(wholeScale, readable)))
  }, [start, size, contentWidth, contentHeight, readable])

  const change = useCallback(
    (next: (now: View) => View) => {
      moved.current = start
      setView(next)
    },
    [start],
  )

  const zoomBy = useCallback(
    (factor: number, at?: { readonly x: number; readonly y: number }) =>
      change(({ x, y, scale }) => {
        const next = Math.min(SCALE.max, Math.max(SCALE.min, scale * factor))
        const fixed = at ?? { x: size.width / 2, y: size.height / 2 }
        return {
          scale: next,
          x: fixed.x - ((fixed.x - x) * next) / scale,
          y: fixed.y - ((fixed.y - y) * next) / scale,
        }
      }),
    [size, change],
  )

  useEffect(() => {
    if (element === null) return
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      const { left, top } = element.getBoundingClientRect()
      zoomBy(Math.exp(-event.deltaY / 200), { x: event.clientX - left, y: event.clientY - top })
    }
    // The listener is added directly, because React registers passive wheel listeners, which cannot prevent
    // the zoom of the page.
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [element, zoomBy])

  /**
   * Makes a rectangle visible by scrolling as little as possible. If `isCentred` is true, scrolls the
   * rectangle to the center.
   */
  const show = useCallback(
    ({ x, y, width, height }: Rectangle, isCentred = false) =>
      change(now => {
        const scale = isCentred ? Math.max(now.scale, 0.8) : now.scale
        const shifted = (offset: number, from: number, length: number, room: number): number => {
          if (isCentred) return room / 2 - (from + length / 2) * scale
          if (from * scale + offset < MARGIN) return MARGIN - from * scale
          const over = (from + length) * scale + offset - (room - MARGIN)
          return over > 0 ? Math.max(offset - over, MARGIN - from * scale) : offset
        }
        return { scale, x: shifted(now.x, x, width, size.width), y: shifted(now.y, y, height, size.height) }
      }),
    [size, change],
  )

  const onPointerDown = (event: PointerEvent<Element>): void => {
    if (pointers.current.size === 0) isDragging.current = false
    pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY })
  }
  const onPointerMove = (event: PointerEvent<Element>): void => {
    const last = pointers.current.get(event.pointerId)
    if (last === undefined || element === null) return
    const now = { x: event.clientX, y: event.clientY }
    const by = { x: now.x - last.x, y: now.y - last.y }
    if (!isDragging.current) {
      if (Math.hypot(by.x, by.y) < TREMBLE) return
      isDragging.current = true
      event.currentTarget.setPointerCapture(event.pointerId)
    }
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1]
    pointers.current.set(event.pointerId, now)
    if (other === undefined) {
      change(({ x, y, scale }) => ({ scale, x: x + by.x, y: y + by.y }))
      return
    }
    const { left, top } = element.getBoundingClientRect()
    const distance = (point: { x: number; y: number }): number =>
      Math.hypot(point.x - other.x, point.y - other.y)
    zoomBy(distance(now) / Math.max(1, distance(last)), { x: other.x - left, y: other.y - top })
  }
  const onPointerEnd = (event: PointerEvent<Element>): void => {
    pointers.current.delete(event.pointerId)
  }
  const onClickCapture = (event: { stopPropagation(): void }): void => {
    // The end of a drag must not count as a press.
    if (isDragging.current) event.stopPropagation()
    isDragging.current = false
  }

  return {
    ref: setElement as RefCallback<HTMLElement>,
    view,
    size,
    /**
     * Height at which the whole drawing fits into the width of the container. Null until the width is known.
     */
    wantedHeight:
      size.width === 0
        ? null
        : contentHeight * Math.max(readable, Math.min(1, (size.width - 2 * MARGIN) / contentWidth)) +
          2 * MARGIN,
    zoomBy,
    show,
    fit: () => change(() => fitted(Math.max(SCALE.min, wholeScale))),
    handlers: {
      onPointerDown,
      onPointerMove,
      onPointerUp: onPointerEnd,
      onPointerCancel: onPointerEnd,
      onClickCapture,
    },
  }
}
