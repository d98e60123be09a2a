/** Errors of the API in the German console. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { fresh } from '#testing/processes/running-service.ts'
import { look, sees, sharedConsole } from '../../support/console-page.ts'

const { verdict, open } = await sharedConsole()

/** Submits the dialog that adds a type. */
async function addType(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Typ anlegen' }).press('Enter')
  await page.getByRole('textbox', { name: 'Schlüssel' }).fill(key)
  await page.getByRole('dialog').getByRole('button', { name: 'Anlegen' }).press('Enter')
}

test('a field shows its error in German', async () => {
  const [taken] = fresh('paper')
  await verdict.resource({ key: taken, actions: {} })
  const page = await open('model', { language: 'de', refusals: [409, 422] })
  await addType(page, 'a b')
  const dialog = page.getByRole('dialog')
  await sees(dialog, 'Erlaubt sind nur Buchstaben, Ziffern, - und _, höchstens 128 Zeichen.')
  // The error is not repeated below the fields.
  expect(await dialog.getByRole('alert').count()).toBe(0)
  await look(page, 'problem-of-a-field-de')

  await page.getByRole('textbox', { name: 'Schlüssel' }).fill(taken)
  await dialog.getByRole('button', { name: 'Anlegen' }).press('Enter')
  await sees(dialog, 'Dieser Name wird bereits verwendet.', { exact: true })
})

test('known error codes are explained in German, unknown codes show the message of the service', async () => {
  const page = await open('groups/nowhere', { language: 'de', refusals: [404, 418, 429] })
  await sees(page, 'Nicht gefunden oder nicht mehr vorhanden. Meldung des Dienstes:')
  const note = page.locator('.note.problem').first()
  // The title of the error repeats the code and is not shown.
  expect(await note.innerText()).not.toContain('could not be found')

  expect(await note.locator('[lang=en]').innerText()).toBe('there is no group "nowhere"')

  const answer = async (status: number, code: string) => {
    const json = { error_code: code, title: 'A title', message: 'as the service says it' }
    await page.route('**/v2/schema/*/*/groups/direct/nowhere', route => route.fulfill({ status, json }))
    await page.reload()
  }
  await answer(429, 'UNEXPECTED_ERROR')
  await sees(page, 'Es wurden zu viele Anfragen gesendet.')
  await answer(418, 'NEW_HERE')
  await sees(page, 'as the service says it', { exact: true })
  expect(await note.innerText()).toBe('as the service says it')
})
