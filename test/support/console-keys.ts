/** Keyboard input for the console. Keys are pressed only after the element is ready for them. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Presses a key on an element that is enabled and keeps the focus. Otherwise, the key would be lost. */
export async function pressOn(target: Locator, key = 'Enter'): Promise<void> {
  await focusOn(target.and(target.page().locator(':not(:disabled, [aria-disabled=true])')))
  await target.page().keyboard.press(key)
}

/**
 * Focuses an element until it keeps the focus. A dialog that closes returns the focus one frame later, and a
 * hidden page accepts no focus. A key press before that would be lost.
 */
async function focusOn(target: Locator): Promise<void> {
  await expect
    .poll(async () => {
      await target.focus()
      return target.evaluate(keepsFocus)
    })
    .toBe(true)
}

/** Types a text where the focus is, and then presses the keys. */
export async function typeAndPress(page: Page, text: string, ...keys: readonly string[]): Promise<void> {
  await page.keyboard.type(text)
  for (const key of keys) await page.keyboard.press(key)
}

export function button(within: Page | Locator, name: string | RegExp): Locator {
  return within.getByRole('button', { name, exact: true })
}

export function press(within: Page | Locator, name: string | RegExp): Promise<void> {
  return pressOn(button(within, name))
}

/** The open dialog or confirmation. */
export function dialog(page: Page): Locator {
  return page.locator('[role=dialog], [role=alertdialog]').last()
}

export async function dialogClosed(page: Page): Promise<void> {
  await page.locator('.dialog').waitFor({ state: 'detached' })
}

/** Presses the button with this name in the message that contains the text. */
export async function pressInToast(page: Page, text: string | RegExp, name = 'Undo'): Promise<void> {
  const toast = page.locator('.toast', { hasText: text }).last()
  await toast.waitFor()
  await dialogClosed(page)
  await press(toast, name)
}

/** Types a key without completion. Open options hide the rest of the page from assistive technology. */
export async function typeKey(page: Page, label: string, typed: string): Promise<void> {
  await typeInto(page, label, typed)
  await page.keyboard.press('Tab')
}

/** Types the start of a key, and selects the first option. */
export async function complete(page: Page, label: string, typed: string, option: string): Promise<void> {
  await typeInto(page, label, typed)
  await page.locator(`.options [role=option][data-key="${option}"]:first-child`).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.locator('.options').waitFor({ state: 'detached' })
}

export async function typeInto(page: Page, label: string, typed: string): Promise<void> {
  await focusOn(page.getByRole('combobox', { name: label, exact: true, includeHidden: true }))
  await page.keyboard.type(typed)
}

/** Selects an option of the list that a button opens. */
export async function choose(
  within: Page | Locator,
  label: string | RegExp,
  option: string | RegExp,
): Promise<void> {
  const opener = within.getByRole('button', { name: label })
  const page = opener.page()
  await pressOn(opener)
  await pressOn(page.getByRole('option', { name: option, exact: true }))
  await page.locator('.options').waitFor({ state: 'detached' })
}

/** Opens a dialog, and waits until its first field, or the button of a confirmation, has the focus. */
export async function openDialog(
  opener: Locator,
  focused = '.dialog :is(input, button):focus',
): Promise<void> {
  await pressOn(opener)
  await opener.page().locator(focused).waitFor()
}

/** Runs in the page. Returns whether an element still has the focus after two frames. */
async function keepsFocus(element: unknown): Promise<boolean> {
  const { document, requestAnimationFrame: frame } = globalThis as unknown as {
    document: { activeElement: unknown }
    requestAnimationFrame: (then: () => void) => void
  }
  await new Promise<void>(drawn => frame(() => frame(drawn)))
  return document.activeElement === element
}
