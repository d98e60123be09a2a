/** Keys on what the console shows: pressed when it can hear them, as somebody does who looks first. */
import type { Locator } from 'playwright-core'
import { expect } from 'vitest'

/**
 * Presses a key on a thing, once it can be used and keeps the focus. A dialog that closes gives the focus back a frame later, and what has no
 * options yet does not open: a key that is pressed before goes elsewhere, or is lost.
 */
export async function pressOn(target: Locator, key = 'Enter'): Promise<void> {
  const usable = target.and(target.page().locator(':not(:disabled, [aria-disabled=true])'))
  await expect
    .poll(async () => {
      await usable.focus()
      return usable.evaluate(keepsFocus)
    })
    .toBe(true)
  await target.page().keyboard.press(key)
}

/** Opens a dialog, and waits until its first field, or the button of a question, has the focus. */
export async function openDialog(
  button: Locator,
  focused = '.dialog :is(input, button):focus',
): Promise<void> {
  await pressOn(button)
  await button.page().locator(focused).waitFor()
}

/** Runs in the page: whether an element has the focus still when two frames were drawn. */
async function keepsFocus(element: unknown): Promise<boolean> {
  const { document, requestAnimationFrame: frame } = globalThis as unknown as {
    document: { activeElement: unknown }
    requestAnimationFrame: (then: () => void) => void
  }
  await new Promise<void>(drawn => frame(() => frame(drawn)))
  return document.activeElement === element
}
