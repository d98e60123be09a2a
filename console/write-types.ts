/**
 * Writes the types of the HTTP interface, made of the description that the service gives of itself: what the console asks for is checked
 * against what there is. They are no part of the sources; `npm run check:types` writes them first.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTypes, { astToString } from 'openapi-typescript'
import { InProcessService } from '../src/composition/in-process-service.ts'

const FOLDER = new URL('types/', import.meta.url)

const service = await InProcessService.open(error => {
  throw error
})
const { status, body } = await service.answer('GET', '/openapi.json', '')
await service.close()
if (status !== 200) throw new Error(`the description was answered with ${status}`)
const types = await openapiTypes(JSON.parse(Buffer.from(body).toString()), { defaultNonNullable: false })
mkdirSync(FOLDER, { recursive: true })
writeFileSync(fileURLToPath(new URL('interface.d.ts', FOLDER)), astToString(types))
