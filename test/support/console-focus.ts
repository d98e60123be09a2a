/** Checks that each control of a page can be reached by keyboard, and that the focus is visible. */
import type { Page } from 'playwright-core'

/** Controls that Tab does not reach, and controls that look the same with and without the focus. */
export async function unreached(page: Page): Promise<string[]> {
  await page.evaluate(WATCH_FOCUS)
  const count = (await page.evaluate('watched.usable().length')) as number
  // Some parts of the page, such as an open list, use additional presses.
  for (let presses = 0; presses < count * 2 + 10; presses += 1) {
    await page.keyboard.press('Tab')
    await page.evaluate('new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
  }
  return page.evaluate('watched.faults()') as Promise<string[]>
}

/** Runs in the page. */
const WATCH_FOCUS = `(() => {
  if (globalThis.watched) return watched.begin()
  const MARKS = ['outlineStyle', 'outlineColor', 'boxShadow', 'borderColor', 'backgroundColor', 'stroke', 'strokeWidth']
  const around = element => [element, ...element.querySelectorAll('*'), element.parentElement, element.parentElement.parentElement]
  const lookOf = element => around(element).slice(0, 40).map(each => {
    const style = getComputedStyle(each)
    return MARKS.map(mark => style[mark]).join()
  }).join('|')
  const named = (what, element) => what + ': ' + element.outerHTML.slice(0, 160)
  let looks
  globalThis.watched = {
    begin() {
      document.activeElement.blur()
      looks = new Map()
    },
    usable: () => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter(element =>
      element.tabIndex >= 0 && !element.disabled && element.checkVisibility({ visibilityProperty: true }) &&
      !element.closest('[inert], [aria-hidden=true], [data-live-announcer]')),
    async faults() {
      document.activeElement.blur()
      await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))
      return watched.usable().flatMap(element => {
        if (!looks.has(element)) return [named('not reached', element)]
        return looks.get(element) === lookOf(element) ? [named('no mark', element)] : []
      })
    },
  }
  addEventListener('focusin', ({ target }) => requestAnimationFrame(() => {
    if (target === document.activeElement) looks.set(target, lookOf(target))
  }), true)
  watched.begin()
})()`
